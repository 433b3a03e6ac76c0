// The folder node.state: what a daemon that found its rank by discovery must know when it is started again. One daemon
// at a time may use it; the lock is held for as long as this object lives.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/daemon/discovery.h"

namespace fibocast {

class DiscoveryStore {
 public:
  // Makes the folder if it is missing, and the daemon's id if there is none. Throws SettingsError: one sentence.
  explicit DiscoveryStore(const std::string& folder);
  ~DiscoveryStore();
  DiscoveryStore(const DiscoveryStore&) = delete;
  DiscoveryStore& operator=(const DiscoveryStore&) = delete;

  const DiscoveryState& state() const { return state_; }
  // On disk, whole, when it returns. Throws SettingsError when it cannot be written: a daemon that forgets what it
  // agreed to must not go on.
  void keep(const DiscoveryState& state);

 private:
  void lock();
  void read();

  std::filesystem::path folder_;
  int lock_ = -1;
  DiscoveryState state_;
};

// Never 0.
std::uint64_t random_id();

}  // namespace fibocast
