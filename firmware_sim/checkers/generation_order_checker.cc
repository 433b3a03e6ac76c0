#include "firmware_sim/checkers/checkers.h"

namespace fibocast {

Faults check_generation_order(const History& history) {
  std::map<std::tuple<std::uint32_t, NodeId, std::uint32_t>, Generation> next;
  Faults faults;
  for (const Record& r : history.records) {
    if (r.kind != Record::Kind::kDone) continue;
    Generation& expected = next[{r.group, r.node, r.participant}];
    if (r.generation < expected)
      faults.push_back(describe(history, r) + "answered after generation " + std::to_string(expected - 1));
    expected = r.generation + 1;
  }
  return faults;
}

}  // namespace fibocast
