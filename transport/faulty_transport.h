// A transport that misbehaves on purpose, by a seed: loses, repeats, delays and so reorders what it is to send.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "transport/transport.h"

namespace fibocast {

struct FaultSettings {
  double loss = 0;  // probabilities, per frame
  double duplicates = 0;
  double reordered = 0;   // held back by up to `most_delay`, so that later frames overtake
  Nanoseconds delay = 0;  // of every frame
  Nanoseconds most_delay = 1'000'000;
};

class FaultyTransport final : public Transport {
 public:
  // `inner` outlives it.
  FaultyTransport(boost::asio::io_context& io, Transport& inner, const FaultSettings& settings, std::uint32_t seed);

  void set_faults(const FaultSettings& settings) { settings_ = settings; }
  // All frames to this peer are lost while the path is cut.
  void cut(NodeId peer, bool is_cut);
  std::uint64_t lost() const { return lost_; }

  void start(Handlers handlers) override { inner_.start(std::move(handlers)); }
  bool send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) override;
  std::size_t max_frame(NodeId to) const override { return inner_.max_frame(to); }
  std::size_t receive_buffer_bytes(NodeId from) const override { return inner_.receive_buffer_bytes(from); }
  void stop() override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Held {
    NodeId to;
    std::vector<std::byte> frame;
  };
  bool chance(double probability);
  bool send_once(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload);
  void arm();
  void release_due();

  Transport& inner_;
  FaultSettings settings_;
  std::mt19937 random_;
  boost::asio::steady_timer timer_;
  std::multimap<Clock::time_point, Held> held_;
  std::optional<Clock::time_point> armed_for_;
  std::set<NodeId> cut_;
  std::uint64_t lost_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // handlers already queued look whether we still are
};

}  // namespace fibocast
