// All relays of a daemon: those that its own clients asked for, and those that other daemons opened here. See relay.h.
// Here all messages with reserved tags come in: what nobody reads would cost the other daemon credit for as long as
// both run.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <span>

#include "runtime/daemon/relay.h"

namespace fibocast {

// One thread: that of the host.
class Relays {
 public:
  static constexpr std::size_t kMost = 512;
  // `admit` takes a connection as the socket server does. `host` outlives the relays.
  using Admit = std::function<void(Relay::Socket)>;
  Relays(boost::asio::io_context& io, NodeHost& host, NodeId self, Admit admit);

  // After the host's: waits for others to open relays here.
  void start();
  // `socket` is from now on a connection to `to`, as if the client had connected there; `first` was read from it.
  // False: kMost are open; the socket is untouched. Precondition: `to` is a node of the cluster, not this one.
  bool open(Relay::Socket& socket, NodeId to, std::span<const std::byte> first);
  // False: not a relay's.
  bool on_message(const Event& event);
  void on_peer_gone(NodeId peer);
  bool on_drained();
  void close_all();
  // Entries of the node's table of requests that are the relays' own.
  std::uint32_t receiving() const { return listening_ ? 1 : 0; }

 private:
  void listen();
  bool take_opened(NodeId opener, std::uint64_t tag);
  void add(Relay::Socket socket, const Relay::Ends& ends, std::span<const std::byte> first);
  void sweep();

  boost::asio::io_context& io_;
  NodeHost& host_;
  const NodeId self_;
  Admit admit_;
  std::map<std::uint64_t, std::shared_ptr<Relay>> relays_;  // by tag_in
  RelayRefusals refusals_;
  std::uint64_t next_number_;
  bool listening_ = false, stopped_ = false;
};

}  // namespace fibocast
