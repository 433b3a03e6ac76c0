#include "firmware_sim/networks/queued_link.h"

#include <algorithm>

namespace fibocast {

Ticks QueuedLink::admit(Ticks now, Ticks duration) {
  Ticks begins = now;
  if (free_.size() == channels_) {
    begins = std::max(now, free_.top());
    free_.pop();
  }
  free_.push(begins + duration);
  while (!waiting_.empty() && waiting_.top() <= now) waiting_.pop();
  if (begins > now) waiting_.push(begins);
  ++load_.messages;
  load_.busy += duration;
  load_.queue_peak = std::max<std::uint64_t>(load_.queue_peak, waiting_.size());
  waited_ += begins - now;
  return begins;
}

void add_load(NetworkLoads& loads, const QueuedLink& link, const std::string& name) {
  loads.waited += link.waited();
  if (link.load().messages == 0) return;
  loads.links.push_back(link.load());
  loads.links.back().name = name;
}

}  // namespace fibocast
