#include <algorithm>
#include <set>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {
namespace {

using Participant = std::pair<NodeId, std::uint32_t>;

struct Decision {
  std::set<Participant> arrived;
  // ... before the earliest deadline of those that were here already; and from when on they count.
  std::map<Participant, Nanoseconds> in_time;
  Nanoseconds deadline = kNever;  // the earliest so far
  Nanoseconds began = kNever;
  const Record* first = nullptr;  // the first answer that tells the verdict
};

bool tells(const Record& r) {
  return r.verdict == Verdict::kOk || r.verdict == Verdict::kDeadlineExceeded || is_loss(r.verdict);
}

bool all_here(const HistoryGroup& group, Rank rank, const std::set<Participant>& arrived) {
  for (std::uint32_t i = 0; i < group.participants; ++i)
    if (!arrived.contains({group.members[rank], i})) return false;
  return true;
}

// Who is not here yet at the first failing answer cannot have been here when the verdict was found.
void check_named(const History& history, const Record& r, const std::set<Participant>& arrived, Findings& findings) {
  const HistoryGroup& group = history.groups[r.group];
  for (Rank rank = 0; rank < group.members.size(); ++rank)
    if (!all_here(group, rank, arrived) && std::ranges::find(r.missing, rank) == r.missing.end() &&
        !(group.goes_on && troubled(history, group.members[rank], 0, r.at)))
      findings.push_back(describe(history, r) + "rank " + std::to_string(rank) + " had not arrived and is not named");
}

// Its place is empty; or another participant of its node was taken for it, and it counts as that one when it comes
// back.
bool place_was_left(const History& history, const Record& r, NodeId node) {
  if (history.groups[r.group].participants == 1) return lost_a_caller(history, r.group, r.generation, node);
  return std::ranges::any_of(history.records, [&](const Record& death) {
    return death.kind == Record::Kind::kDied && death.group == r.group && death.generation == r.generation &&
           death.node == node;
  });
}

// The members are asked after a deadline has passed, and then they were here: unless the window, whose moving takes
// time to be told, held their calls back.
void check_not_named(const History& history, const Record& r, const Decision& decision, Findings& findings) {
  std::set<Participant> in_time;
  for (const auto& [participant, counts_from] : decision.in_time)
    if (counts_from < decision.deadline) in_time.insert(participant);
  const HistoryGroup& group = history.groups[r.group];
  for (Rank rank : r.missing)
    if (all_here(group, rank, in_time) && !place_was_left(history, r, group.members[rank]))
      findings.push_back(describe(history, r) + "rank " + std::to_string(rank) + " had arrived in time and is named");
}

void note_arrival(Decision& decision, const Record& r) {
  if (r.at < decision.deadline) decision.in_time.emplace(Participant{r.node, r.participant}, r.not_before);
  decision.arrived.insert({r.node, r.participant});
  decision.began = std::min(decision.began, r.at);
  decision.deadline = std::min(decision.deadline, r.deadline);
}

// Across a partition verdicts are uniform on each side only, and who did not run is on a side of its own.
bool split(const History& history, const Decision& decision, const Record& r) {
  return troubled(history, r.node, decision.began, r.at) ||
         troubled(history, decision.first->node, decision.began, r.at);
}

// Calls that wait for a new plan are counted nowhere: each node tells them whom it has lost itself.
bool names_may_differ(const History& history, const Record& a, const Record& b) {
  return history.groups[a.group].replanned && a.verdict == Verdict::kPeerLost && b.verdict == Verdict::kPeerLost;
}

void compare(const History& history, Decision& decision, const Record& r, Findings& findings) {
  if (!decision.first) {
    decision.first = &r;
    if (r.verdict == Verdict::kDeadlineExceeded) check_named(history, r, decision.arrived, findings);
    if (history.calm && r.verdict != Verdict::kCallerLost && r.generation < history.window &&
        !history.groups[r.group].replanned)
      check_not_named(history, r, decision, findings);
  } else if (!split(history, decision, r) && !removed_by(history, r.group, r.at) &&
             !names_may_differ(history, *decision.first, r) &&
             (decision.first->verdict != r.verdict || decision.first->missing != r.missing)) {
    findings.push_back(describe(history, r) + "another verdict, or other missing ranks, than " +
                       describe(history, *decision.first));
  }
}

// For the next epoch, or a new plan: before they are counted anywhere.
bool may_wait(const HistoryGroup& group) { return group.goes_on || group.replanned; }

}  // namespace

Findings check_verdicts(const History& history) {
  std::map<GenerationKey, Decision> decisions;
  Findings findings;
  for (const Record& r : history.records) {
    if (r.operation != Operation::kBarrier || r.kind == Record::Kind::kCrashed) continue;
    Decision& decision = decisions[{r.group, r.generation}];
    if (r.kind == Record::Kind::kArrived) note_arrival(decision, r);
    if (r.kind != Record::Kind::kDone || !tells(r)) continue;
    // Whose call joined what was open, and was not answered, may have been here.
    const std::set<Participant>& perhaps = decisions[{r.group, kUnknownGeneration}].arrived;
    decision.arrived.insert(perhaps.begin(), perhaps.end());
    if (r.verdict == Verdict::kOk || !r.missing.empty())
      compare(history, decision, r, findings);
    else if (r.generation < history.window && !may_wait(history.groups[r.group]))
      findings.push_back(describe(history, r) + "DEADLINE_EXCEEDED names nobody");
  }
  return findings;
}

}  // namespace fibocast
