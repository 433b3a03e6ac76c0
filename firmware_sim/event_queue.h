// Virtual time: a queue of things to do, each at its instant. Time passes only from one of them to the next, so
// an hour of a quiet cluster costs nothing and the same input gives the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "collectives/types.h"

namespace fibocast {

class EventQueue {
 public:
  using Action = std::function<void()>;

  // The instant of the action that runs, or that ran last.
  Nanoseconds now() const { return now_; }
  bool empty() const { return heap_.empty(); }
  Nanoseconds next_time() const { return heap_.empty() ? kNever : heap_.top().time; }
  std::uint64_t actions_run() const { return run_; }

  // Runs `action` at `time`; a time that is over counts as now. Same instant: in the order of these calls.
  void at(Nanoseconds time, Action action);
  // Precondition: !empty().
  void run_next();
  // Runs everything up to and including `time`, and then it is `time`.
  void run_until(Nanoseconds time);

 private:
  struct Entry {
    Nanoseconds time;
    std::uint64_t sequence;
    Action action;
    bool operator<(const Entry& other) const {  // std::priority_queue keeps the largest on top
      return time != other.time ? time > other.time : sequence > other.sequence;
    }
  };
  std::priority_queue<Entry> heap_;
  Nanoseconds now_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t run_ = 0;
};

}  // namespace fibocast
