// The process at the other end of a local socket, where it can be seen: not from another container.
#pragma once

#include <chrono>

namespace fibocast {

class PeerProcess {
 public:
  explicit PeerProcess(int socket);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  // False: it still runs then. True at once for one that cannot be seen, and for this very process.
  bool wait_for_end(std::chrono::steady_clock::time_point until) const;

 private:
  int process_ = -1;
};

}  // namespace fibocast
