#include "transport/udp_transport.h"

#include <fcntl.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <sstream>
#include <system_error>

#include "transport/close_on_exec.h"
#include "transport/datagram_calls.h"

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

// What the kernel keeps for a datagram beside its bytes: 2,304 for one of 1,400 (PROTOCOL 12); no more for large ones.
constexpr std::size_t kKernelBytesPerFrame = 904;

// As far as allowed: beyond the system's maximum only with privileges.
void raise_buffer(int socket, int forced, int plain, int bytes) {
  if (setsockopt(socket, SOL_SOCKET, forced, &bytes, sizeof bytes) == 0) return;
  setsockopt(socket, SOL_SOCKET, plain, &bytes, sizeof bytes);
}

std::uint64_t random_token() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
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
    : socket_(io),
      settings_(settings),
      token_(random_token()),
      buffer_(kMostSharingHeads + kLoopbackPayload + kMaxHeadBytes) {
  if (settings.fan_out) self_ = settings.fan_out->self;
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
  if (self_ && fan_out::is_any(frame)) {
    take_of_this_host(frame);
    return true;
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
  if (!parts || parts->head.from == self_ || !is_from(parts->head.from, from_)) return true;
  fan_outs_first_ = kLooksForFanOuts;
  take(*parts);
  return true;
}

void UdpTransport::take_of_this_host(std::span<const std::byte> datagram) {
  if (const auto answer = fan_out::decode_answer(datagram)) return on_answer(*answer);
  if (const auto parts = fan_out::decode(datagram)) return take(*parts);
  ++counters_.malformed;
}

void UdpTransport::take(const fan_out::Parts& parts) {
  const NodeId from = parts.head.from;
  if (parts.head.asks && from < peers_.size() && peers_[from].endpoint.port() != 0)
    send_from_own_port(peers_[from], fan_out::encode(fan_out::Answer{*self_, parts.head.token}), {});
  fan_out::for_each_frame(parts.frames, [&](NodeId to, std::span<const std::byte> frame, bool shares) {
    if (to != *self_) return;
    ++counters_.frames_received;
    if (!shares)
      handlers_.on_frame(frame);
    else if (handlers_.on_parts)
      handlers_.on_parts(frame, parts.payload);
  });
}

// One to a question about pairs says by its number that this came there; that of a fan-out everybody here may have
// heard.
void UdpTransport::on_answer(const fan_out::Answer& answer) {
  if (answer.token == token_ && answer.from < peers_.size()) {
    peers_[answer.from].takes_pairs = peers_[answer.from].connected.has_value();
  } else if (fan_out_ && is_from(answer.from, from_)) {
    fan_out_->on_answer(answer.from, answer.token);
  } else {
    ++counters_.malformed;
  }
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
