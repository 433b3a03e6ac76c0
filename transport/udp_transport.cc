#include "transport/udp_transport.h"

#include <fcntl.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <system_error>

#include "transport/close_on_exec.h"
#include "transport/datagram_calls.h"
#include "transport/monotonic_now.h"

namespace fibocast {
namespace {

using boost::asio::ip::udp;

std::string sentence(const udp::endpoint& endpoint) {
  std::ostringstream text;
  text << "cannot listen on UDP " << endpoint;
  return text.str();
}

// So many datagrams after a fan-out another one is looked for before each: a look in vain costs 0.3 us.
constexpr unsigned kLooksForFanOuts = 1000;
constexpr unsigned kMostInARow = 32;  // datagrams of one socket while nobody looks at the other

constexpr unsigned kWorthASocket = 16;  // frames to one peer on loopback: there will be more

// What the kernel keeps for a datagram beside its bytes: 2,304 for one of 1,400 (PROTOCOL 12); no more for large ones.
constexpr std::size_t kKernelBytesPerFrame = 904;

// As far as allowed: beyond the system's maximum only with privileges.
void raise_buffer(int socket, int forced, int plain, int bytes) {
  if (setsockopt(socket, SOL_SOCKET, forced, &bytes, sizeof bytes) == 0) return;
  setsockopt(socket, SOL_SOCKET, plain, &bytes, sizeof bytes);
}

void set_options(udp::socket& socket, int buffer_bytes) {
  const int fd = socket.native_handle();
  raise_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, buffer_bytes);
  raise_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, buffer_bytes);
  const int on = 1;
  if (socket.local_endpoint().protocol() == udp::v6()) {
    setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
  } else {
    setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
  }
}

}  // namespace

int granted_receive_buffer(int asked_bytes) {
  boost::asio::io_context io;
  udp::socket socket(io);
  boost::asio::socket_base::receive_buffer_size size;
  boost::system::error_code error;
  socket.open(udp::v4(), error);
  if (error) return 0;
  raise_buffer(socket.native_handle(), SO_RCVBUFFORCE, SO_RCVBUF, asked_bytes);
  socket.get_option(size, error);
  return error ? 0 : size.value();  // Asio tells half of what the kernel has taken
}

UdpTransport::UdpTransport(boost::asio::io_context& io, const UdpSettings& settings)
    : socket_(io), settings_(settings), buffer_(kMostSharingHeads + kLoopbackPayload + kMaxHeadBytes) {
  boost::system::error_code error;
  if (settings.socket >= 0) {
    socket_.assign(settings.listen.protocol(), fcntl(settings.socket, F_DUPFD_CLOEXEC, 0), error);
  } else {
    socket_.open(settings.listen.protocol(), error);
    close_on_exec(socket_.native_handle());
    if (!error) socket_.bind(settings.listen, error);  // never SO_REUSEADDR: two daemons would share a port unnoticed
  }
  if (error) throw std::system_error(error, sentence(settings.listen));
  socket_.non_blocking(true);
  set_options(socket_, settings.socket_buffer_bytes);
}

UdpTransport::~UdpTransport() = default;

UdpTransport::Peer& UdpTransport::peer_at(NodeId peer) {
  if (peer >= peers_.size()) peers_.resize(peer + 1);
  return peers_[peer];
}

void UdpTransport::set_peer(NodeId peer, const udp::endpoint& endpoint) {
  Peer& p = peer_at(peer);
  p.endpoint = endpoint;
  disconnect(p);
  p.max_payload = endpoint.address().is_loopback() ? kLoopbackPayload : kUnprovedPayload;
  if (settings_.fan_out && !fan_out_) join_fan_out();
}

void UdpTransport::join_fan_out() {
  const auto on_loopback = [](const Peer& p) { return p.endpoint.port() != 0 && p.endpoint.address().is_loopback(); };
  if (std::cmp_less(std::ranges::count_if(peers_, on_loopback), kLeastFanOut)) return;
  auto joined = std::make_unique<FanOut>(socket_, *settings_.fan_out);
  settings_.fan_out.reset();  // tried once
  if (!joined->joined()) return;
  set_options(joined->socket(), settings_.socket_buffer_bytes);
  fan_out_ = std::move(joined);
  if (handlers_.on_frame) wait_readable(fan_out_->socket());
}

void UdpTransport::set_max_payload(NodeId peer, std::size_t bytes) {
  peer_at(peer).max_payload = std::min(bytes, kLoopbackPayload);
}

udp::endpoint UdpTransport::local_endpoint() const { return socket_.local_endpoint(); }

void UdpTransport::start(Handlers handlers) {
  handlers_ = std::move(handlers);
  wait_readable(socket_);
  if (fan_out_) wait_readable(fan_out_->socket());
}

void UdpTransport::stop() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  if (fan_out_) fan_out_->close();
}

// What was gathered for the same peer goes first.
bool UdpTransport::send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  flush();
  return send_alone(to, head, payload);
}

bool UdpTransport::gather(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  if (!fan_out_) return send_alone(to, head, payload);
  if (!fan_out_->has_room(to, head, payload)) flush();
  return fan_out_->gather(to, head, payload) || send_alone(to, head, payload);
}

void UdpTransport::flush() {
  if (!fan_out_ || fan_out_->is_idle() || !socket_.is_open()) return;
  const auto alone = [this](NodeId to, std::span<const std::byte> frame) { send_alone(to, frame, {}); };
  const FanOut::Sent sent = fan_out_->flush(monotonic_now, alone);
  counters_.fan_outs += sent.datagrams;
  counters_.frames_sent += sent.frames;
  counters_.bytes_sent += sent.bytes;
  counters_.send_errors += sent.lost;
}

bool UdpTransport::send_alone(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  if (to >= peers_.size() || peers_[to].endpoint.port() == 0 || !socket_.is_open()) {
    ++counters_.send_errors;
    return true;
  }
  Peer& peer = peers_[to];
  if (!send_connected(peer, head, payload)) return send_from_own_port(peer, head, payload);
  ++counters_.frames_sent;
  counters_.bytes_sent += head.size() + payload.size();
  return true;
}

bool UdpTransport::send_from_own_port(Peer& to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  ssize_t sent = send_datagram(to, head, payload);
  // The error of an earlier datagram is reported here instead of sending this one.
  if (sent < 0 && errno == ECONNREFUSED) sent = send_datagram(to, head, payload);
  if (sent >= 0) {
    ++counters_.frames_sent;
    counters_.bytes_sent += static_cast<std::uint64_t>(sent);
    return true;
  }
  ++counters_.send_errors;
  if (errno != EAGAIN) return true;
  to.blocked = true;
  wait_writable();
  return false;
}

// False: not sent. The socket of all peers tries it, and learns of a refusal.
bool UdpTransport::send_connected(Peer& to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  if (!to.connected && ++to.sent >= kWorthASocket) connect(to);
  if (!to.connected) return false;
  if (to.connected->send(head, payload)) return true;
  disconnect(to);
  return false;
}

void UdpTransport::connect(Peer& to) {
  to.sent = 0;
  if (connected_ == kMostConnectedPeers || !to.endpoint.address().is_loopback()) return;
  to.connected = ConnectedSender::to(to.endpoint, settings_.socket_buffer_bytes);
  if (to.connected) ++connected_;
}

void UdpTransport::disconnect(Peer& peer) {
  if (peer.connected) --connected_;
  peer.connected.reset();
}

ssize_t UdpTransport::send_datagram(Peer& to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  const auto address_bytes = static_cast<socklen_t>(to.endpoint.size());
  return datagram_calls::send_pieces(socket_.native_handle(), head, payload, to.endpoint.data(), address_bytes);
}

std::size_t UdpTransport::max_frame(NodeId to) const {
  return kMaxHeadBytes + (to < peers_.size() ? peers_[to].max_payload : kUnprovedPayload);
}

std::size_t UdpTransport::receive_buffer_bytes(NodeId from) const {
  boost::asio::socket_base::receive_buffer_size size;
  boost::system::error_code error;
  socket_.get_option(size, error);
  if (error) return 0;
  // Asio tells what was asked for, which is half of what the kernel has taken.
  const std::size_t kernel_bytes = static_cast<std::size_t>(size.value()) * 2, frame = max_frame(from);
  return kernel_bytes * frame / (frame + kKernelBytesPerFrame);
}

void UdpTransport::wait_readable(udp::socket& socket) {
  socket.async_wait(udp::socket::wait_read,
                    [this, &socket, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
                      if (error || alive.expired() || !socket_.is_open()) return;
                      receive_batch();
                      if (socket_.is_open()) wait_readable(socket);
                    });
}

void UdpTransport::wait_writable() {
  if (std::exchange(waiting_writable_, true)) return;
  socket_.async_wait(udp::socket::wait_write,
                     [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
                       if (error || alive.expired() || !socket_.is_open()) return;
                       waiting_writable_ = false;
                       for (NodeId id = 0; id < peers_.size(); ++id) {
                         const bool blocked = std::exchange(peers_[id].blocked, false);
                         if (blocked && handlers_.on_writable) handlers_.on_writable(id);
                       }
                     });
}

void UdpTransport::receive_batch() {
  unsigned received = 0;
  while (received < settings_.batch && socket_.is_open() && receive_next()) ++received;
  // Woken, but not by a datagram: the error queue would wake us again and again until it is read.
  if (received == 0 && socket_.is_open()) drain_errors();
}

// Where fan-outs come they are looked for first: what was sent to us alone after one must not overtake it. But calls
// may follow each other for ever with what one socket has: now and then the other one is first.
bool UdpTransport::receive_next() {
  if (!fan_out_) return receive_one();
  const bool other_first = ++in_a_row_ > kMostInARow;
  if (other_first) in_a_row_ = 0;
  if ((fan_outs_first_ > 0) == other_first) {
    if (receive_one()) return true;
    in_a_row_ = 0;
    return receive_fan_out();
  }
  if (receive_fan_out()) return true;
  in_a_row_ = 0;
  if (!receive_one()) return false;
  if (fan_outs_first_ > 0) --fan_outs_first_;
  return true;
}

bool UdpTransport::receive(udp::socket& socket, std::span<const std::byte>& datagram) {
  datagram = {};
  // Frames say themselves whose they are: only with fan-outs it matters where they come from.
  sockaddr* const from = fan_out_ ? from_.data() : nullptr;
  auto from_bytes = static_cast<socklen_t>(from_.capacity());
  const ssize_t bytes = datagram_calls::receive_from(socket.native_handle(), buffer_, from, &from_bytes);
  if (bytes < 0) {
    if (errno == EAGAIN || errno == EBADF) return false;
    drain_errors();
    return true;
  }
  if (std::cmp_greater(bytes, buffer_.size())) {
    ++counters_.malformed;
    return true;
  }
  if (from != nullptr) from_.resize(from_bytes);
  datagram = std::span(buffer_).first(static_cast<std::size_t>(bytes));
  counters_.bytes_received += datagram.size();
  return true;
}

// False: there is nothing more now.
bool UdpTransport::receive_one() {
  std::span<const std::byte> frame;
  if (!receive(socket_, frame)) return false;
  if (frame.data() == nullptr) return true;
  if (fan_out_ && frame.size() == fan_out::kAnswerBytes) {
    const auto answer = fan_out::decode_answer(frame);
    if (answer && is_from(answer->from, from_)) {
      fan_out_->on_answer(answer->from, answer->token);
      return true;
    }
  }
  ++counters_.frames_received;
  handlers_.on_frame(frame);
  return true;
}

// From a node of another cluster that uses the same group nothing is taken.
bool UdpTransport::receive_fan_out() {
  std::span<const std::byte> datagram;
  if (!receive(fan_out_->socket(), datagram)) return false;
  if (datagram.data() == nullptr) return true;
  const auto parts = fan_out::decode(datagram);
  if (!parts) ++counters_.malformed;
  const NodeId self = fan_out_->self();
  if (!parts || parts->head.from == self || !is_from(parts->head.from, from_)) return true;
  fan_outs_first_ = kLooksForFanOuts;
  if (parts->head.asks)
    send_from_own_port(peers_[parts->head.from], fan_out::encode(fan_out::Answer{self, parts->head.token}), {});
  fan_out::for_each_frame(parts->frames, [&](NodeId to, std::span<const std::byte> frame, bool shares) {
    if (to != self) return;
    ++counters_.frames_received;
    if (!shares)
      handlers_.on_frame(frame);
    else if (handlers_.on_parts)
      handlers_.on_parts(frame, parts->payload);
  });
  return true;
}

// The kernel counts them for each socket. Of the fan-outs' it counts what is not for us as well, so that says nothing:
// what is lost there shows as frames that are sent again.
const TransportCounters& UdpTransport::counters() {
  std::uint32_t memory[SK_MEMINFO_VARS] = {};
  socklen_t bytes = sizeof memory;
  if (socket_.is_open() && getsockopt(socket_.native_handle(), SOL_SOCKET, SO_MEMINFO, memory, &bytes) == 0)
    counters_.kernel_drops = memory[SK_MEMINFO_DROPS];
  return counters_;
}

bool UdpTransport::is_from(NodeId peer, const udp::endpoint& endpoint) const {
  return peer < peers_.size() && peers_[peer].endpoint == endpoint;
}

void UdpTransport::drain_errors() {
  for (unsigned i = 0; i < settings_.batch && socket_.is_open(); ++i) {
    udp::endpoint destination;
    alignas(cmsghdr) char control[512];
    msghdr message{};
    message.msg_name = destination.data();
    message.msg_namelen = static_cast<socklen_t>(destination.capacity());
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(socket_.native_handle(), &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return;
    if (message.msg_namelen > 0) destination.resize(message.msg_namelen);
    note_refusal(destination);
  }
}

void UdpTransport::note_refusal(const udp::endpoint& endpoint) {
  ++counters_.refused;
  if (!handlers_.on_refused) return;
  const auto peer = std::ranges::find(peers_, endpoint, &Peer::endpoint);
  if (peer != peers_.end()) handlers_.on_refused(static_cast<NodeId>(peer - peers_.begin()));
}

}  // namespace fibocast
