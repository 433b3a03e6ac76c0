#include <set>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {

Findings check_names(const History& history) {
  Findings findings;
  for (const Record& r : history.records) {
    if (r.kind != Record::Kind::kDone) continue;
    const std::size_t members = history.groups[r.group].members.size();
    if (r.straggler != kNoRank && r.straggler >= members)
      findings.push_back(describe(history, r) + "rank " + std::to_string(r.straggler) + " of a group of " +
                         std::to_string(members) + " is called the last");
    std::set<Rank> named;
    for (const Rank rank : r.missing) {
      const std::string names = describe(history, r) + "names rank " + std::to_string(rank);
      if (rank >= members) findings.push_back(names + " of a group of " + std::to_string(members));
      if (!named.insert(rank).second) findings.push_back(names + " twice");
    }
    if (r.verdict == Verdict::kOk && !r.missing.empty())
      findings.push_back(describe(history, r) + "is OK and names somebody");
  }
  return findings;
}

}  // namespace fibocast
