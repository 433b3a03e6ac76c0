// Carries the bytes of one local connection to another daemon of the cluster and back, as application messages: so a
// client of one daemon is a client of any, over the same path as everything else.
//
// Stop and wait: the next chunk leaves when the last one has been written at the other end. So a client that does not
// read holds up nobody else, and at most two messages of a relay are kept anywhere. Each side says once that it has
// ended; the relay is over when both have, or when the other daemon is gone.
#pragma once

#include <array>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/daemon/relay_messages.h"

namespace fibocast {

// One end of a relay. One thread: that of the host. Made and kept by Relays.
class Relay : public std::enable_shared_from_this<Relay> {
 public:
  using Socket = boost::asio::local::stream_protocol::socket;
  struct Ends {
    NodeId peer = kNoNode;
    std::uint64_t tag_out = 0, tag_in = 0;
  };
  Relay(Socket socket, NodeHost& host, const Ends& ends);
  // `first`: bytes that were read from the socket already, at most kChunk.
  void start(std::span<const std::byte> first);
  const Ends& ends() const { return ends_; }
  // A message of the other end. Its range is released by the caller.
  void on_message(std::span<const std::byte> message);
  // The other daemon is gone: nothing is sent any more.
  void on_peer_gone();
  // Tries again what the node had no room for. True if a command was given.
  bool retry();
  bool is_over() const { return !open_ && !receiving_ && !end_owed_; }
  void close_socket();

  static constexpr std::size_t kChunk = 16 * 1024;

 private:
  void read_more();
  void on_read(const boost::system::error_code& error, std::size_t bytes);
  void on_data(std::span<const std::byte> data);
  void on_written(const boost::system::error_code& error);
  void end();
  bool send(RelayMessage kind, std::span<const std::byte> data);
  bool pump();

  Socket socket_;
  NodeHost& host_;
  const Ends ends_;
  std::array<std::byte, kChunk> out_;  // read here
  std::size_t out_bytes_ = 0;          // 0: nothing is under way to the other end
  std::vector<std::byte> in_;          // being written here
  bool open_ = true;                   // the socket
  bool data_owed_ = false, taken_owed_ = false, end_owed_ = false;
  bool receiving_ = false;  // until the other end has ended
};

}  // namespace fibocast
