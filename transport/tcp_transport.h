// Frames over TCP. It orders and repeats by itself, but a broken connection loses what was under way; the channel
// above cures that as it does over UDP. Every queue is bounded, and so is the number of connections.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <unordered_map>

#include "transport/accept_pause.h"
#include "transport/tcp_connection.h"
#include "transport/transport.h"
#include "transport/transport_counters.h"

namespace fibocast {

inline constexpr std::size_t kTcpPayload = 32 * 1024;  // bytes in one frame; each connection has room for two

struct TcpSettings {
  boost::asio::ip::tcp::endpoint listen;       // port 0: any free one
  std::size_t queue_frames = 64;               // waiting for one peer
  std::size_t queue_bytes = 256 * 1024;        // waiting for one peer
  std::size_t most_accepted = 512;             // connections
  std::size_t most_unproved = 64;              // of them, without a valid frame so far: 66 KB each
  unsigned accepts_at_once = 128;              // in 100 ms; more wait in the kernel's queue
  std::chrono::milliseconds patience{10'000};  // for the first valid frame of an accepted connection
  std::chrono::milliseconds dial_patience{2'000};
};

class TcpTransport final : public Transport {
 public:
  // Listens. Throws std::system_error with a sentence that names the address, e.g. when the port is in use.
  TcpTransport(boost::asio::io_context& io, const TcpSettings& settings);
  ~TcpTransport() override;

  // May be called at any time; a new address counts from the next dial. Frames to an unknown peer are lost.
  void set_peer(NodeId peer, const boost::asio::ip::tcp::endpoint& endpoint);
  boost::asio::ip::tcp::endpoint local_endpoint() const;
  std::size_t accepted_now() const { return receivers_.size(); }
  const TransportCounters& counters() const { return counters_; }

  void start(Handlers handlers) override;
  bool send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) override;
  std::size_t max_frame(NodeId to) const override;
  // TCP holds the sender back by itself: what a connection may hold without harm to the others.
  std::size_t receive_buffer_bytes(NodeId) const override { return 1 << 20; }
  void stop() override;

 private:
  void accept();
  void take(boost::asio::ip::tcp::socket socket);
  bool make_room();
  void pause_accepting();
  std::shared_ptr<TcpSender> make_sender(NodeId peer);

  boost::asio::io_context& io_;
  TcpSettings settings_;
  boost::asio::ip::tcp::acceptor acceptor_;
  AcceptPause accept_pause_;
  Handlers handlers_;
  std::unordered_map<NodeId, std::shared_ptr<TcpSender>> senders_;
  std::list<std::shared_ptr<TcpReceiver>> receivers_;  // the oldest first
  std::chrono::steady_clock::time_point accepting_since_{};
  unsigned accepts_ = 0;  // since then
  TransportCounters counters_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // handlers already queued look whether we still are
};

}  // namespace fibocast
