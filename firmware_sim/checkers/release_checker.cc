#include <algorithm>
#include <set>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {
namespace {

using Participant = std::pair<NodeId, std::uint32_t>;
using Arrivals = std::map<Participant, Nanoseconds>;  // from when on they count

// One of several participants may have taken the place of another one that died.
void arrive(const History& history, const Record& r, bool place_was_left, Arrivals& arrivals) {
  const Nanoseconds from = clock_jumps(history, r.node) || place_was_left ? r.at : r.not_before;
  const auto [at, is_new] = arrivals.try_emplace({r.node, r.participant}, from);
  if (!is_new) at->second = std::min(at->second, from);
}

std::set<Participant> counted(const Arrivals& arrivals, Nanoseconds now) {
  std::set<Participant> here;
  for (const auto& [participant, from] : arrivals)
    if (from <= now) here.insert(participant);
  return here;
}

}  // namespace

Findings check_release(const History& history) {
  std::map<GenerationKey, Arrivals> arrived;
  std::set<std::pair<GenerationKey, NodeId>> died;
  Findings findings;
  for (const Record& r : history.records) {
    if (r.operation != Operation::kBarrier || r.kind == Record::Kind::kCrashed) continue;
    const GenerationKey key{r.group, r.generation};
    if (r.kind == Record::Kind::kDied) died.insert({key, r.node});
    if (r.kind == Record::Kind::kArrived) arrive(history, r, died.contains({key, r.node}), arrived[key]);
    if (r.kind != Record::Kind::kDone || r.verdict != Verdict::kOk) continue;
    const HistoryGroup& group = history.groups[r.group];
    std::set<Participant> here = counted(arrived[key], r.at);
    // A call without a number may have been in this one, and joined another where its node was told that it had failed.
    for (auto later = arrived.upper_bound(key); !group.numbered && later != arrived.end(); ++later)
      if (later->first.first == r.group) here.merge(counted(later->second, r.at));
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
