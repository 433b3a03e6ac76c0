// The least host: drives one channel per peer over a transport, with real timers. For tests of transports.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <vector>

#include "tests/transport/traffic.h"
#include "transport/transport.h"

namespace fibocast::test {

class Endpoint {
 public:
  // Connects to nodes 0 .. nodes-1. Owns the transport.
  Endpoint(boost::asio::io_context& io, std::unique_ptr<Transport> transport, NodeId self, NodeId nodes,
           std::uint64_t incarnation);
  ~Endpoint();

  Traffic& traffic(NodeId peer) { return peers_.at(peer)->traffic; }
  ReliableChannel& channel(NodeId peer) { return *peers_.at(peer)->channel; }
  Transport& transport() { return *transport_; }
  // After something was queued.
  void service(NodeId peer);
  bool done() const;  // everything queued was sent and acknowledged
  std::string errors() const;

 private:
  struct Peer {
    Peer(boost::asio::io_context& io) : timer(io) {}
    std::vector<std::max_align_t> memory;
    std::uint64_t ready = 0;
    std::unique_ptr<ReliableChannel> channel;
    Traffic traffic;
    boost::asio::steady_timer timer;
    Nanoseconds armed_for = kNoDeadline;
    bool blocked = false;
  };
  bool on_frame(std::span<const std::byte> bytes);
  void transmit(Peer& peer, NodeId id);
  void arm(Peer& peer, NodeId id);
  static Nanoseconds now();

  boost::asio::io_context& io_;
  std::unique_ptr<Transport> transport_;
  std::map<NodeId, std::shared_ptr<Peer>> peers_;
};

}  // namespace fibocast::test
