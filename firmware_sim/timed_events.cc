#include "firmware_sim/timed_events.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "collectives/check.h"

namespace fibocast {
namespace {

bool goes_first(const TimedEvent& a, const TimedEvent& b) {
  return std::tie(a.source, a.stage, a.repetition, a.transfer, a.rank) <
         std::tie(b.source, b.stage, b.repetition, b.transfer, b.rank);
}

// The end of a receive concerns its node alone.
bool order_matters(const std::vector<TimedEvent>& events) {
  return events.size() > 1 && events.front().kind != TimedKind::kReceived;
}

}  // namespace

std::size_t TimedEventQueue::bucket_of(Ticks time) const {
  return static_cast<std::size_t>(std::bit_width(time ^ now_));
}

void TimedEventQueue::push(const TimedEvent& event) {
  check(event.time >= now_);
  if (event.time == now_) {
    now_events_[static_cast<std::size_t>(event.kind)].push_back(event);
  } else {
    later_[bucket_of(event.time)].push_back(event);
  }
}

bool TimedEventQueue::next_batch(std::vector<TimedEvent>& batch) {
  batch.clear();
  do {
    for (std::vector<TimedEvent>& events : now_events_) {
      if (events.empty()) continue;
      std::swap(batch, events);
      if (order_matters(batch)) std::sort(batch.begin(), batch.end(), goes_first);
      return true;
    }
  } while (find_next_time());
  return false;
}

// The lowest bucket that holds something holds the earliest time; all in it then differ from that in lower bits.
bool TimedEventQueue::find_next_time() {
  for (std::vector<TimedEvent>& bucket : later_) {
    if (bucket.empty()) continue;
    std::swap(moving_, bucket);
    now_ = std::ranges::min_element(moving_, {}, &TimedEvent::time)->time;
    for (const TimedEvent& event : moving_) push(event);
    moving_.clear();
    return true;
  }
  return false;
}

}  // namespace fibocast
