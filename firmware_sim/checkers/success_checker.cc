#include <algorithm>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {
namespace {

struct Attempt {
  std::size_t arrivals = 0;
  Nanoseconds last_arrival = 0;
  Nanoseconds deadline = kNever;  // the earliest
};

bool had_time(const History& history, const GenerationKey& key, const Attempt& attempt) {
  const HistoryGroup& group = history.groups[key.first];
  return attempt.arrivals == group.members.size() * group.participants &&
         attempt.deadline - attempt.last_arrival >= history.ample;
}

}  // namespace

Faults check_success(const History& history) {
  std::map<GenerationKey, Attempt> attempts;
  for (const Record& r : history.records) {
    if (r.kind != Record::Kind::kArrived) continue;
    Attempt& attempt = attempts[{r.group, r.generation}];
    ++attempt.arrivals;
    attempt.last_arrival = std::max(attempt.last_arrival, r.at);
    attempt.deadline = std::min(attempt.deadline, r.deadline);
  }
  Faults faults;
  for (const Record& r : history.records) {
    const GenerationKey key{r.group, r.generation};
    if (r.kind == Record::Kind::kDone && r.verdict != Verdict::kOk && had_time(history, key, attempts[key]))
      faults.push_back(describe(history, r) + "verdict " + std::to_string(static_cast<int>(r.verdict)) +
                       " although all came and had time");
  }
  return faults;
}

}  // namespace fibocast
