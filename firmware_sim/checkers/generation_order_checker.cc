#include "firmware_sim/checkers/checkers.h"

namespace fibocast {

Findings check_generation_order(const History& history) {
  std::map<std::tuple<std::uint32_t, NodeId, std::uint32_t>, Generation> next;
  Findings findings;
  for (const Record& r : history.records) {
    if (r.kind == Record::Kind::kCrashed)  // its applications begin anew, where they find their groups
      std::erase_if(next, [&r](const auto& entry) { return std::get<1>(entry.first) == r.node; });
    if (r.kind != Record::Kind::kDone) continue;
    const bool outside = r.verdict == Verdict::kPartitioned || r.verdict == Verdict::kStale;
    if (outside && history.groups[r.group].goes_on) continue;  // it asks again where the others are
    Generation& expected = next[{r.group, r.node, r.participant}];
    if (r.generation < expected)
      findings.push_back(describe(history, r) + "answered after generation " + std::to_string(expected - 1));
    expected = r.generation + 1;
  }
  return findings;
}

}  // namespace fibocast
