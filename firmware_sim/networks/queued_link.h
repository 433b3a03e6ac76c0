// One link with a queue: so many parallel channels, first come, first served. Part of several networks.
#pragma once

#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "firmware_sim/networks/network.h"

namespace fibocast {

class QueuedLink {
 public:
  explicit QueuedLink(std::uint64_t channels = 1) : channels_(channels) {}

  // A message that comes now and needs `duration` on a channel: when it begins. Calls in the order of time.
  Ticks admit(Ticks now, Ticks duration);
  const LinkLoad& load() const { return load_; }
  Ticks waited() const { return waited_; }

 private:
  std::uint64_t channels_;
  // Networks have millions of links: these own no memory before they are used.
  using Earliest = std::priority_queue<Ticks, std::vector<Ticks>, std::greater<>>;
  Earliest free_;     // when each channel that was used is free
  Earliest waiting_;  // when those that wait begin
  LinkLoad load_;
  Ticks waited_ = 0;
};

// Those that carried something, with names.
void add_load(NetworkLoads& loads, const QueuedLink& link, const std::string& name);

}  // namespace fibocast
