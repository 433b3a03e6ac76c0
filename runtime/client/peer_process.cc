#include "runtime/client/peer_process.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace fibocast {

PeerProcess::PeerProcess(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return;
  if (peer.pid > 0 && peer.pid != getpid()) process_ = static_cast<int>(syscall(SYS_pidfd_open, peer.pid, 0));
}

PeerProcess::~PeerProcess() {
  if (process_ >= 0) close(process_);
}

bool PeerProcess::wait_for_end(std::chrono::steady_clock::time_point until) const {
  if (process_ < 0) return true;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
  pollfd ended{process_, POLLIN, 0};
  return poll(&ended, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000))) == 1;
}

}  // namespace fibocast
