#include <algorithm>
#include <set>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {
namespace {

using Participant = std::pair<NodeId, std::uint32_t>;

struct Decision {
  std::set<Participant> arrived;
  const Record* first = nullptr;  // the first answer that tells the verdict
};

bool tells(const Record& r) { return r.verdict == Verdict::kOk || r.verdict == Verdict::kDeadlineExceeded; }

bool all_here(const HistoryGroup& group, Rank rank, const std::set<Participant>& arrived) {
  for (std::uint32_t i = 0; i < group.participants; ++i)
    if (!arrived.contains({group.members[rank], i})) return false;
  return true;
}

// Who is not here yet at the first failing answer cannot have been here when the verdict was found.
void check_named(const History& history, const Record& r, const std::set<Participant>& arrived, Faults& faults) {
  const HistoryGroup& group = history.groups[r.group];
  for (Rank rank = 0; rank < group.members.size(); ++rank)
    if (!all_here(group, rank, arrived) && std::ranges::find(r.missing, rank) == r.missing.end())
      faults.push_back(describe(history, r) + "rank " + std::to_string(rank) + " had not arrived and is not named");
}

// How far each participant of a group is.
class Progress {
 public:
  void note(const Record& r) { next_[{r.group, r.node, r.participant}] = r.generation + 1; }
  // Somebody is so far behind that a call of generation `r` may have been held back by the window until its deadline.
  // How far members are is told at every W/2-th generation.
  bool window_may_be_closed(const History& history, const Record& r) const {
    const HistoryGroup& group = history.groups[r.group];
    for (NodeId node : group.members) {
      for (std::uint32_t i = 0; i < group.participants; ++i) {
        const auto at = next_.find({r.group, node, i});
        if ((at == next_.end() ? 0 : at->second) + history.window / 2 <= r.generation) return true;
      }
    }
    return false;
  }

 private:
  std::map<std::tuple<std::uint32_t, NodeId, std::uint32_t>, Generation> next_;
};

void compare(const History& history, Decision& decision, const Record& r, Faults& faults) {
  if (!decision.first) {
    decision.first = &r;
    if (r.verdict == Verdict::kDeadlineExceeded) check_named(history, r, decision.arrived, faults);
  } else if (decision.first->verdict != r.verdict || decision.first->missing != r.missing) {
    faults.push_back(describe(history, r) + "another verdict, or other missing ranks, than " +
                     describe(history, *decision.first));
  }
}

}  // namespace

Faults check_verdicts(const History& history) {
  std::map<GenerationKey, Decision> decisions;
  Progress progress;
  Faults faults;
  for (const Record& r : history.records) {
    if (r.kind == Record::Kind::kDone) progress.note(r);
    if (r.operation != Operation::kBarrier) continue;
    Decision& decision = decisions[{r.group, r.generation}];
    if (r.kind == Record::Kind::kArrived) decision.arrived.insert({r.node, r.participant});
    if (r.kind != Record::Kind::kDone || !tells(r)) continue;
    if (r.verdict == Verdict::kOk || !r.missing.empty())
      compare(history, decision, r, faults);
    else if (!progress.window_may_be_closed(history, r))
      faults.push_back(describe(history, r) + "DEADLINE_EXCEEDED names nobody");
  }
  return faults;
}

}  // namespace fibocast
