#include <algorithm>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {
namespace {

using Caller = std::tuple<std::uint32_t, NodeId, std::uint32_t>;
Caller caller_of(const Record& r) { return {r.group, r.node, r.participant}; }

using Generations = std::map<Caller, Generation>;

// Its applications begin anew, where they find their groups.
void forget(Generations& generations, NodeId node) {
  std::erase_if(generations, [node](const auto& entry) { return std::get<1>(entry.first) == node; });
}

void note_answer(const History& history, const Record& r, Generations& next, Findings& findings) {
  const bool held = r.verdict == Verdict::kDeadlineExceeded && r.missing.empty();
  const bool outside = held || r.verdict == Verdict::kPartitioned || r.verdict == Verdict::kStale;
  if (outside && history.groups[r.group].goes_on) return;  // it asks again where the others are
  if (r.generation == kUnknownGeneration) return;          // its group was removed before it had joined one
  Generation& expected = next[caller_of(r)];
  if (r.generation < expected)
    findings.push_back(describe(history, r) + "answered after generation " + std::to_string(expected - 1));
  // A call without a number that failed may have found no place in this generation; the next one does.
  const bool counted = r.verdict == Verdict::kOk || history.groups[r.group].numbered;
  expected = r.generation + counted;
}

// For all: one who is through with data does not know what became of others.
bool went_well(const History& history, std::uint32_t group, Generation generation) {
  bool answered = false, failed = lost_a_caller(history, group, generation);
  for (const Record& r : history.records) {
    if (r.kind != Record::Kind::kDone || r.group != group || r.generation != generation) continue;
    answered = true;
    failed |= r.verdict != Verdict::kOk || r.operation != Operation::kBarrier;
  }
  return answered && !failed;
}

// The others may have gone on without its node, which they took for lost; and with any node that is lost a generation
// may fail just there, where nobody was to be told.
bool somebody_was_lost(const History& history, const Record& r) {
  return std::ranges::any_of(history.groups[r.group].members,
                             [&](NodeId node) { return troubled(history, node, 0, r.at); });
}

// It begins behind what has failed meanwhile.
void note_begin(const History& history, const Record& r, Generations& latest, Findings& findings) {
  const auto begins = latest.find(caller_of(r));
  if (begins == latest.end()) return;
  for (Generation g = begins->second; g < r.generation && !somebody_was_lost(history, r); ++g)
    if (went_well(history, r.group, g))
      findings.push_back(describe(history, r) + "begins here again, and left generation " + std::to_string(g) + " out");
  latest.erase(begins);
}

}  // namespace

Findings check_generation_order(const History& history) {
  Generations next, latest;  // that a participant that comes back may begin with
  Findings findings;
  for (const Record& r : history.records) {
    if (r.kind == Record::Kind::kCrashed) forget(next, r.node), forget(latest, r.node);
    const bool ends = r.kind == Record::Kind::kDied || r.kind == Record::Kind::kEnded;
    if (ends) next.erase(caller_of(r));
    if (ends && r.generation != kUnknownGeneration && history.groups[r.group].numbered)
      latest[caller_of(r)] = r.generation + (r.kind == Record::Kind::kDied);
    if (r.kind == Record::Kind::kArrived) note_begin(history, r, latest, findings);
    if (r.kind == Record::Kind::kDone) note_answer(history, r, next, findings);
  }
  return findings;
}

}  // namespace fibocast
