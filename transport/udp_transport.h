// Frames as UDP datagrams, on one socket: one system call per send, no copy of the payload, receiving in bounded
// batches so that the other work of the io_context gets its turn. Between nodes of one host the frames of a fan-out
// leave in one datagram (fan_out.h), which comes on a second socket; for the peers there that get most frames alone
// there is a socket each (connected_sender.h), and two frames may leave in one datagram (frame_pair.h).
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "transport/connected_sender.h"
#include "transport/fan_out.h"
#include "transport/frame.h"
#include "transport/frame_pair.h"
#include "transport/transport.h"
#include "transport/transport_counters.h"

namespace fibocast {

// Bytes in one frame where no network is in between: with the heads of a fan-out that shares it, what UDP takes.
inline constexpr std::size_t kLoopbackPayload = 55 * 1024;
inline constexpr unsigned kMostConnectedPeers = 16;    // with a socket of their own: children in trees are few
inline constexpr std::size_t kUnprovedPayload = 1200;  // until a larger path MTU is proved (PROTOCOL 12)

// Of a receive buffer of so many bytes: what this process gets, by its privileges and the system's limit. 0: no socket.
int granted_receive_buffer(int asked_bytes);

struct UdpSettings {
  boost::asio::ip::udp::endpoint listen;  // port 0: any free one
  int socket = -1;                        // one that is bound already, of which a copy is used; -1: none
  int socket_buffer_bytes = 8 << 20;      // asked for, each way; the kernel may give less
  unsigned batch = 32;                    // datagrams received per wake-up
  // Where frames for several nodes of this host go, once there are enough of them. None: each frame goes alone.
  std::optional<FanOut::Settings> fan_out = {};
};

class UdpTransport final : public Transport {
 public:
  // Binds. Throws std::system_error with a sentence that names the address, e.g. when the port is in use.
  UdpTransport(boost::asio::io_context& io, const UdpSettings& settings);
  ~UdpTransport() override;

  // May be called at any time, again when a peer moved. Frames to a peer without an address are lost (counted).
  void set_peer(NodeId peer, const boost::asio::ip::udp::endpoint& endpoint);
  // A larger payload per frame was proved on the path to this peer.
  void set_max_payload(NodeId peer, std::size_t bytes);
  boost::asio::ip::udp::endpoint local_endpoint() const;
  const TransportCounters& counters();

  void start(Handlers handlers) override;
  bool send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) override;
  bool gather(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) override;
  void flush() override;
  bool shares_payloads(NodeId to) const override { return fan_out_ && fan_out_->hears(to); }
  std::size_t max_frame(NodeId to) const override;
  // Of the real SO_RCVBUF what remains for frames after the kernel's own overhead (2,304 B per 1,400).
  std::size_t receive_buffer_bytes(NodeId from) const override;
  void stop() override;
  bool can_poll() const override { return true; }
  bool poll() override { return socket_.is_open() && receive_next(); }

 private:
  struct Peer {
    boost::asio::ip::udp::endpoint endpoint;
    std::size_t max_payload = kUnprovedPayload;
    std::optional<ConnectedSender> connected = {};
    unsigned sent = 0;         // to him alone, without a socket of his own
    bool takes_pairs = false;  // he has answered; never without a socket of his own
    bool blocked = false;
  };
  Peer& peer_at(NodeId peer);
  void join_fan_out();
  bool send_connected(Peer& to, std::span<const std::byte> head, std::span<const std::byte> payload);
  void connect(Peer& to);
  void disconnect(Peer& peer);
  void ask_whether_it_takes_pairs(Peer& peer);
  bool takes_pairs(NodeId peer) const { return peer < peers_.size() && peers_[peer].takes_pairs; }
  bool hold_or_send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload);
  bool send_pair(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload);
  void send_held();
  template <class SendAlone>
  void send_fan_outs(SendAlone send_alone);
  ssize_t send_datagram(Peer& to, std::span<const std::byte> head, std::span<const std::byte> payload);
  bool send_alone(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload);
  // Where who gets it looks at the sender's address: answers.
  bool send_from_own_port(Peer& to, std::span<const std::byte> head, std::span<const std::byte> payload);
  void wait_readable(boost::asio::ip::udp::socket& socket);
  void wait_writable();
  void receive_batch();
  bool receive_next();
  // False: there is no datagram now. One that is not to be used has no data().
  bool receive(boost::asio::ip::udp::socket& socket, std::span<const std::byte>& datagram);
  bool receive_one();
  bool receive_fan_out();
  void take_of_this_host(std::span<const std::byte> datagram);
  void take(const fan_out::Parts& parts);
  void on_answer(const fan_out::Answer& answer);
  bool is_from(NodeId peer, const boost::asio::ip::udp::endpoint& endpoint) const;
  void drain_errors();
  void note_refusal(const boost::asio::ip::udp::endpoint& endpoint);

  boost::asio::ip::udp::socket socket_;
  UdpSettings settings_;
  Handlers handlers_;
  std::optional<NodeId> self_;  // none: each frame goes alone
  const std::uint64_t token_;   // of questions about pairs
  FramePair pair_;
  std::unique_ptr<FanOut> fan_out_;  // null: none is wanted, or it would not do
  unsigned fan_outs_first_ = 0;      // datagrams on the other socket before which a fan-out is looked for
  unsigned in_a_row_ = 0;            // datagrams from one socket since the other one was looked at
  std::vector<Peer> peers_;          // by NodeId; port 0: its address is not known
  unsigned connected_ = 0;           // of them
  std::vector<std::byte> buffer_;
  boost::asio::ip::udp::endpoint from_;  // of the last datagram, where there are fan-outs
  TransportCounters counters_;
  bool waiting_writable_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // handlers already queued look whether we still are
};

}  // namespace fibocast
