#include <algorithm>
#include <set>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {
namespace {

struct Attempt {
  std::set<std::pair<NodeId, std::uint32_t>> arrived;
  Nanoseconds first_arrival = kNever, last_arrival = 0, last_done = 0;
  Nanoseconds deadline = kNever;  // the earliest
  Nanoseconds first_done = kNever;
};

// Long enough for somebody to be lost.
bool cut(const History& history, const GenerationKey& key, const Attempt& attempt) {
  return std::ranges::any_of(history.groups[key.first].members, [&](NodeId node) {
    return troubled(history, node, attempt.first_arrival, attempt.last_done, shortest_cut(history));
  });
}

// Half of a member's messages are lost for so long: it may be out of reach for a suspicion time in the middle of a
// change of the group, which then begins anew and ends what was begun meanwhile (runtime/README.md).
bool out_of_reach(const History& history, const GenerationKey& key, const Attempt& attempt) {
  const HistoryGroup& group = history.groups[key.first];
  if (!group.goes_on && !group.replanned) return false;
  return std::ranges::any_of(history.faults, [&](const Fault& fault) {
    const bool lossy = fault.kind == Fault::Kind::kLoss && fault.probability >= 0.5 &&
                       fault.heals - fault.begins >= history.suspicion / 2;
    const bool meanwhile = fault.begins <= attempt.last_done && fault.heals >= attempt.first_arrival;
    return lossy && meanwhile && std::ranges::any_of(group.members, [&](NodeId n) { return concerns(fault, n); });
  });
}

bool had_time(const History& history, const GenerationKey& key, const Attempt& attempt) {
  const HistoryGroup& group = history.groups[key.first];
  return attempt.arrived.size() == group.members.size() * group.participants &&
         !removed_by(history, key.first, attempt.last_done) &&
         !crashed(history, key.first, attempt.first_arrival, attempt.last_done) && !cut(history, key, attempt) &&
         !out_of_reach(history, key, attempt) && !lost_a_caller(history, key.first, key.second) &&
         attempt.deadline - attempt.last_arrival >= history.ample;
}

// A node that was not up when a multicast came, and calls when the others are through, may find its generation
// forgotten: the window moves on without those who do not answer.
bool came_too_late(const History& history, const Record& done, const Attempt& attempt) {
  return !history.calm && done.verdict == Verdict::kStale && attempt.last_arrival >= attempt.first_done;
}

}  // namespace

Findings check_success(const History& history) {
  std::map<GenerationKey, Attempt> attempts;
  for (const Record& r : history.records) {
    Attempt& attempt = attempts[{r.group, r.generation}];
    if (r.kind == Record::Kind::kDone)
      attempt.first_done = std::min(attempt.first_done, r.at), attempt.last_done = r.at;
    if (r.kind != Record::Kind::kArrived) continue;
    attempt.arrived.insert({r.node, r.participant});
    attempt.first_arrival = std::min(attempt.first_arrival, r.at);
    attempt.last_arrival = std::max({attempt.last_arrival, r.at, r.not_before});
    attempt.deadline = std::min(attempt.deadline, r.deadline);
  }
  Findings findings;
  for (const Record& r : history.records) {
    if (r.kind != Record::Kind::kDone || r.verdict == Verdict::kOk) continue;
    const GenerationKey key{r.group, r.generation};
    const Attempt& attempt = attempts[key];
    if (had_time(history, key, attempt) && !came_too_late(history, r, attempt))
      findings.push_back(describe(history, r) + "verdict " + std::to_string(static_cast<int>(r.verdict)) +
                         " although all came and had time");
  }
  return findings;
}

}  // namespace fibocast
