#include <set>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {

Findings check_release(const History& history) {
  using Participant = std::pair<NodeId, std::uint32_t>;
  std::map<GenerationKey, std::set<Participant>> arrived;
  Findings findings;
  for (const Record& r : history.records) {
    if (r.operation != Operation::kBarrier || r.kind == Record::Kind::kCrashed) continue;
    std::set<Participant>& here = arrived[{r.group, r.generation}];
    if (r.kind == Record::Kind::kArrived) here.insert({r.node, r.participant});
    if (r.kind != Record::Kind::kDone || r.verdict != Verdict::kOk) continue;
    const HistoryGroup& group = history.groups[r.group];
    std::size_t all = group.members.size() * group.participants;
    for (const NodeId node : group.members)
      for (std::uint32_t i = 0; group.goes_on && i < group.participants; ++i)
        all -= !here.contains({node, i}) && troubled(history, node, 0, r.at);
    if (here.size() != all)
      findings.push_back(describe(history, r) + "released when " + std::to_string(here.size()) + " of " +
                         std::to_string(all) + " had arrived");
  }
  return findings;
}

}  // namespace fibocast
