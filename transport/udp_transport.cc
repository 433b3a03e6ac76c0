#include "transport/udp_transport.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <system_error>

#include "transport/iovec_of.h"

namespace fibocast {
namespace {

using boost::asio::ip::udp;

std::string sentence(const udp::endpoint& endpoint, const char* remedy) {
  std::ostringstream text;
  text << "cannot listen on UDP " << endpoint << " (" << remedy << ")";
  return text.str();
}

// As far as allowed: beyond the system's maximum only with privileges.
void raise_buffer(int socket, int forced, int plain, int bytes) {
  if (setsockopt(socket, SOL_SOCKET, forced, &bytes, sizeof bytes) == 0) return;
  setsockopt(socket, SOL_SOCKET, plain, &bytes, sizeof bytes);
}

}  // namespace

UdpTransport::UdpTransport(boost::asio::io_context& io, const UdpSettings& settings)
    : socket_(io), batch_(settings.batch), buffer_(kLoopbackPayload + kMaxHeadBytes) {
  boost::system::error_code error;
  if (settings.socket >= 0) {
    socket_.assign(settings.listen.protocol(), fcntl(settings.socket, F_DUPFD_CLOEXEC, 0), error);
  } else {
    socket_.open(settings.listen.protocol(), error);
    if (!error) socket_.bind(settings.listen, error);  // never SO_REUSEADDR: two daemons would share a port unnoticed
  }
  if (error) throw std::system_error(error, sentence(settings.listen, "stop who uses it or choose another address"));
  socket_.non_blocking(true);
  set_options(settings.socket_buffer_bytes);
}

UdpTransport::~UdpTransport() = default;

void UdpTransport::set_options(int socket_buffer_bytes) {
  const int fd = socket_.native_handle();
  raise_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, socket_buffer_bytes);
  raise_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, socket_buffer_bytes);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
  if (local_endpoint().protocol() == udp::v6()) {
    setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
  } else {
    setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
  }
}

UdpTransport::Peer& UdpTransport::peer_at(NodeId peer) {
  if (peer >= peers_.size()) peers_.resize(peer + 1);
  return peers_[peer];
}

void UdpTransport::set_peer(NodeId peer, const udp::endpoint& endpoint) {
  Peer& p = peer_at(peer);
  p.endpoint = endpoint;
  p.max_payload = endpoint.address().is_loopback() ? kLoopbackPayload : kUnprovedPayload;
}

void UdpTransport::set_max_payload(NodeId peer, std::size_t bytes) {
  peer_at(peer).max_payload = std::min(bytes, kLoopbackPayload);
}

udp::endpoint UdpTransport::local_endpoint() const { return socket_.local_endpoint(); }

void UdpTransport::start(Handlers handlers) {
  handlers_ = std::move(handlers);
  wait_readable();
}

void UdpTransport::stop() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

bool UdpTransport::send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  if (to >= peers_.size() || peers_[to].endpoint.port() == 0 || !socket_.is_open()) {
    ++counters_.send_errors;
    return true;
  }
  Peer& peer = peers_[to];
  iovec pieces[2] = {iovec_of(head), iovec_of(payload)};
  msghdr message{};
  message.msg_name = peer.endpoint.data();
  message.msg_namelen = static_cast<socklen_t>(peer.endpoint.size());
  message.msg_iov = pieces;
  message.msg_iovlen = payload.empty() ? 1 : 2;
  ssize_t sent = sendmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  // The error of an earlier datagram is reported here instead of sending this one.
  if (sent < 0 && errno == ECONNREFUSED) sent = sendmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent >= 0) {
    ++counters_.frames_sent;
    counters_.bytes_sent += static_cast<std::uint64_t>(sent);
    return true;
  }
  ++counters_.send_errors;
  if (errno != EAGAIN) return true;
  peer.blocked = true;
  wait_writable();
  return false;
}

std::size_t UdpTransport::max_frame(NodeId to) const {
  return kMaxHeadBytes + (to < peers_.size() ? peers_[to].max_payload : kUnprovedPayload);
}

std::size_t UdpTransport::receive_buffer_bytes() const {
  boost::asio::socket_base::receive_buffer_size size;
  boost::system::error_code error;
  socket_.get_option(size, error);
  return error ? 0 : static_cast<std::size_t>(size.value()) * 1400 / 2304;
}

void UdpTransport::wait_readable() {
  socket_.async_wait(udp::socket::wait_read,
                     [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
                       if (error || alive.expired() || !socket_.is_open()) return;
                       receive_batch();
                       if (socket_.is_open()) wait_readable();
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
  while (received < batch_ && socket_.is_open() && receive_one()) ++received;
  // Woken, but not by a datagram: the error queue would wake us again and again until it is read.
  if (received == 0 && socket_.is_open()) drain_errors();
}

// False: there is nothing more now.
bool UdpTransport::receive_one() {
  iovec whole = {buffer_.data(), buffer_.size()};
  alignas(cmsghdr) char control[64];
  msghdr message{};
  message.msg_iov = &whole;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t bytes = recvmsg(socket_.native_handle(), &message, MSG_DONTWAIT);
  if (bytes < 0) {
    if (errno == EAGAIN || errno == EBADF) return false;
    drain_errors();
    return true;
  }
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_RXQ_OVFL) continue;
    std::uint32_t drops = 0;
    std::memcpy(&drops, CMSG_DATA(c), sizeof drops);
    counters_.kernel_drops = drops;
  }
  if ((message.msg_flags & MSG_TRUNC) != 0) {
    ++counters_.malformed;
    return true;
  }
  ++counters_.frames_received;
  counters_.bytes_received += static_cast<std::uint64_t>(bytes);
  handlers_.on_frame(std::span(buffer_).first(static_cast<std::size_t>(bytes)));
  return true;
}

void UdpTransport::drain_errors() {
  for (unsigned i = 0; i < batch_ && socket_.is_open(); ++i) {
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
