#include <algorithm>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {
namespace {

bool may_be_of(const Record& death, std::uint32_t group, Generation generation) {
  return death.group == group && (death.generation == generation || death.generation == kUnknownGeneration);
}

// The same call was made again, by the same participant, while its place was kept.
bool place_was_taken(const History& history, const Record& death) {
  if (death.generation == kUnknownGeneration || clock_jumps(history, death.node)) return false;
  return std::ranges::any_of(history.records, [&](const Record& r) {
    return r.kind == Record::Kind::kArrived && r.group == death.group && r.generation == death.generation &&
           r.node == death.node && r.participant == death.participant && r.at >= death.at &&
           r.at < death.at + history.client_grace;
  });
}

void check_named(const History& history, const Record& r, Rank rank, Findings& findings) {
  if (!lost_a_caller(history, r.group, r.generation, history.groups[r.group].members[rank]))
    findings.push_back(describe(history, r) + "CALLER_LOST names rank " + std::to_string(rank) +
                       " where nobody died and was lost");
}

// The label is kept of the last death in a group only, and for its generation, if that is known then.
void check_label(const History& history, const Record& r, Findings& findings) {
  std::size_t deaths = 0;
  bool right = false;
  for (const Record& death : history.records) {
    if (death.kind != Record::Kind::kDied || death.group != r.group || death.at > r.at) continue;
    deaths += death.generation == kUnknownGeneration ? 2 : 1;
    right |= may_be_of(death, r.group, r.generation) && death.label == r.label;
  }
  if (!right && (deaths == 1 || !r.label.empty()))
    findings.push_back(describe(history, r) + "CALLER_LOST tells the label '" + r.label + "'");
}

}  // namespace

bool lost_a_caller(const History& history, std::uint32_t group, Generation generation, NodeId node) {
  return std::ranges::any_of(history.records, [&](const Record& death) {
    return death.kind == Record::Kind::kDied && (node == kNoNode || death.node == node) &&
           may_be_of(death, group, generation) && !place_was_taken(history, death);
  });
}

Findings check_callers(const History& history) {
  Findings findings;
  for (const Record& r : history.records) {
    if (r.kind != Record::Kind::kDone || r.verdict != Verdict::kCallerLost) continue;
    if (r.missing.empty()) findings.push_back(describe(history, r) + "CALLER_LOST names nobody");
    for (const Rank rank : r.missing) check_named(history, r, rank, findings);
    check_label(history, r, findings);
  }
  return findings;
}

}  // namespace fibocast
