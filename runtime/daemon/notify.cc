#include "runtime/daemon/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace fibocast {
namespace {

void notify_manager(const std::string& state) { notify(std::getenv("NOTIFY_SOCKET"), state); }

// Without this a manager could take an older READY=1 for the answer to its reload.
std::string monotonic_us() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::to_string(now.tv_sec * 1'000'000LL + now.tv_nsec / 1000);
}

}  // namespace

bool notify(const char* address, const std::string& state) {
  sockaddr_un to{};
  const std::size_t length = address ? std::strlen(address) : 0;
  if (length < 2 || length >= sizeof to.sun_path || (address[0] != '/' && address[0] != '@')) return false;
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, address, length);
  if (address[0] == '@') to.sun_path[0] = '\0';
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return false;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  const ssize_t sent =
      sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to), size);
  close(descriptor);
  return sent == static_cast<ssize_t>(state.size());
}

void notify_ready() { notify_manager("READY=1\nSTATUS=serves\n"); }
void notify_reloading() { notify_manager("RELOADING=1\nMONOTONIC_USEC=" + monotonic_us() + "\n"); }
void notify_stopping() { notify_manager("STOPPING=1\nSTATUS=leaves the cluster\n"); }

}  // namespace fibocast
