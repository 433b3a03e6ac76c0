#include "firmware_sim/event_queue.h"

#include <algorithm>
#include <utility>

namespace fibocast {

void EventQueue::at(Nanoseconds time, Action action) {
  heap_.push({std::max(time, now_), sequence_++, std::move(action)});
}

void EventQueue::run_next() {
  // top() is const, and a copy of the action would copy a datagram; the order does not look at the action.
  Entry entry = std::move(const_cast<Entry&>(heap_.top()));
  heap_.pop();
  now_ = entry.time;
  ++run_;
  entry.action();
}

void EventQueue::run_until(Nanoseconds time) {
  while (next_time() <= time && !empty()) run_next();
  now_ = std::max(now_, time);
}

}  // namespace fibocast
