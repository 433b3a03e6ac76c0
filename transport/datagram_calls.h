// The system's calls that every datagram takes, without what the C library's of the same name do for a thread that
// somebody may cancel: no thread of ours is, and in a process with several threads that is two locked instructions and
// a dozen branches a call. They answer as those do, with errno.
#pragma once

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <span>

#include "transport/iovec_of.h"

namespace fibocast::datagram_calls {

// Neither waits, nor lets a closed socket end the process.
inline constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;

// `address`: null for a socket that is connected.
inline ssize_t send_to(int socket, std::span<const std::byte> bytes, const sockaddr* address, socklen_t address_bytes) {
  return syscall(SYS_sendto, socket, bytes.data(), bytes.size(), kFlags, address, address_bytes);
}
inline ssize_t send_message(int socket, const msghdr& message) {
  return syscall(SYS_sendmsg, socket, &message, kFlags);
}
// `address`: as for send_to().
inline ssize_t send_pieces(int socket, std::span<const std::byte> head, std::span<const std::byte> payload,
                           sockaddr* address, socklen_t address_bytes) {
  if (payload.empty()) return send_to(socket, head, address, address_bytes);
  iovec pieces[2] = {iovec_of(head), iovec_of(payload)};
  msghdr message{};
  message.msg_name = address;
  message.msg_namelen = address_bytes;
  message.msg_iov = pieces;
  message.msg_iovlen = 2;
  return send_message(socket, message);
}
// How long the datagram was, also if that is more than there is room. `address_bytes` becomes those of the sender's.
inline ssize_t receive_from(int socket, std::span<std::byte> room, sockaddr* address, socklen_t* address_bytes) {
  return syscall(SYS_recvfrom, socket, room.data(), room.size(), MSG_DONTWAIT | MSG_TRUNC, address, address_bytes);
}

}  // namespace fibocast::datagram_calls
