// Frames within one process, for tests: as unreliable as allowed, as fast as possible.
#pragma once

#include <boost/asio/io_context.hpp>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "transport/transport.h"
#include "transport/transport_counters.h"

namespace fibocast {

class LoopbackTransport;

// Where the loopback transports of one io_context meet. Outlives them.
class LoopbackHub {
 public:
  explicit LoopbackHub(boost::asio::io_context& io) : io_(io) {}

 private:
  friend class LoopbackTransport;
  boost::asio::io_context& io_;
  std::unordered_map<NodeId, LoopbackTransport*> members_;
};

class LoopbackTransport final : public Transport {
 public:
  LoopbackTransport(LoopbackHub& hub, NodeId self) : hub_(hub), self_(self) {}
  ~LoopbackTransport() override { stop(); }

  const TransportCounters& counters() const { return counters_; }
  void start(Handlers handlers) override;  // before it and after stop(), frames to this node are lost
  bool send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) override;
  std::size_t max_frame(NodeId to) const override;
  std::size_t receive_buffer_bytes(NodeId) const override;
  void stop() override;

 private:
  void take(std::span<const std::byte> head, std::span<const std::byte> payload);
  void deliver_batch();

  LoopbackHub& hub_;
  NodeId self_;
  Handlers handlers_;
  TransportCounters counters_;
  std::deque<std::vector<std::byte>> inbox_;
  bool scheduled_ = false;
  std::shared_ptr<int> alive_;  // what was posted before stop() does nothing after it
};

}  // namespace fibocast
