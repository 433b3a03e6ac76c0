#include <algorithm>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {

Findings check_losses(const History& history) {
  std::map<GenerationKey, Nanoseconds> began;  // verdicts stay on record: who comes later is told of that time
  Findings findings;
  for (const Record& r : history.records) {
    if (r.kind == Record::Kind::kArrived) began.try_emplace({r.group, r.generation}, r.at);
    if (r.kind != Record::Kind::kDone || r.verdict != Verdict::kPeerLost) continue;
    const auto there = [&](NodeId node) {
      return !troubled(history, node, began[{r.group, r.generation}], r.at, history.suspicion / 2);
    };
    if (r.missing.empty()) findings.push_back(describe(history, r) + "PEER_LOST names nobody");
    for (const Rank rank : r.missing)
      if (there(history.groups[r.group].members[rank]) && there(r.node))
        findings.push_back(describe(history, r) + "rank " + std::to_string(rank) + " was there and is called lost");
  }
  return findings;
}

}  // namespace fibocast
