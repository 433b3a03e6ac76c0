#include "transport/connected_sender.h"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "transport/datagram_calls.h"

namespace fibocast {

std::optional<ConnectedSender> ConnectedSender::to(const boost::asio::ip::udp::endpoint& peer, int buffer_bytes) {
  const int fd = socket(peer.protocol().family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::nullopt;
  ConnectedSender sender(fd);
  const int nothing = 0;  // the least that the kernel allows
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &nothing, sizeof nothing);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
  if (connect(fd, peer.data(), static_cast<socklen_t>(peer.size())) != 0) return std::nullopt;
  return sender;
}

ConnectedSender::ConnectedSender(ConnectedSender&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

ConnectedSender& ConnectedSender::operator=(ConnectedSender&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

ConnectedSender::~ConnectedSender() {
  if (fd_ >= 0) close(fd_);
}

bool ConnectedSender::send(std::span<const std::byte> head, std::span<const std::byte> payload) {
  return datagram_calls::send_pieces(fd_, head, payload, nullptr, 0) >= 0;
}

}  // namespace fibocast
