// A service manager as far as a daemon knows one: a socket that hears what it says.
#pragma once

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace fibocast {

class NotifySocket {
 public:
  explicit NotifySocket(const std::string& address) : address_(address) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, address.data(), address.size());
    if (address[0] == '@') at.sun_path[0] = '\0';
    const timeval patience{30, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    bound_ = bind(descriptor_, reinterpret_cast<sockaddr*>(&at),
                  static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size())) == 0;
  }
  ~NotifySocket() {
    close(descriptor_);
    if (address_[0] == '/') unlink(address_.c_str());
  }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  bool bound() const { return bound_; }
  // The next datagram; nothing after 30 s without one.
  std::string heard() {
    char text[1000];
    const ssize_t bytes = recv(descriptor_, text, sizeof text, 0);
    return bytes > 0 ? std::string(text, static_cast<std::size_t>(bytes)) : std::string();
  }

 private:
  std::string address_;
  int descriptor_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  bool bound_ = false;
};

}  // namespace fibocast
