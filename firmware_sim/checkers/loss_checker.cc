#include <algorithm>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {
namespace {

bool may_be_cut_off(const History& history, const Record& r) {
  const HistoryGroup& group = history.groups[r.group];
  return group.goes_on &&
         std::ranges::any_of(group.members, [&](NodeId node) { return troubled(history, node, 0, r.at); });
}

}  // namespace

Findings check_losses(const History& history) {
  std::map<GenerationKey, Nanoseconds> began;  // verdicts stay on record: who comes later is told of that time
  Findings findings;
  for (const Record& r : history.records) {
    if (r.kind == Record::Kind::kArrived) began.try_emplace({r.group, r.generation}, r.at);
    if (r.kind == Record::Kind::kDone && r.verdict == Verdict::kPartitioned && !may_be_cut_off(history, r))
      findings.push_back(describe(history, r) + "PARTITIONED although nobody was cut off");
    if (r.kind != Record::Kind::kDone || r.verdict != Verdict::kPeerLost) continue;
    const auto there = [&](NodeId node) {
      const Nanoseconds from = history.groups[r.group].goes_on ? 0 : began[{r.group, r.generation}];  // it may be back
      return !troubled(history, node, from, r.at, shortest_cut(history));
    };
    if (r.missing.empty()) findings.push_back(describe(history, r) + "PEER_LOST names nobody");
    const auto& members = history.groups[r.group].members;
    const bool node_lost = std::ranges::any_of(r.missing, [&](Rank rank) { return !there(members[rank]); });
    for (const Rank rank : r.missing)  // beside a lost node an application that died may be named
      if (there(members[rank]) && there(r.node) &&
          !(node_lost && lost_a_caller(history, r.group, r.generation, members[rank])))
        findings.push_back(describe(history, r) + "rank " + std::to_string(rank) + " was there and is called lost");
  }
  return findings;
}

}  // namespace fibocast
