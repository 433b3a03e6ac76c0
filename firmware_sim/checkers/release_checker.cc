#include <algorithm>
#include <set>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {
namespace {

using Participant = std::pair<NodeId, std::uint32_t>;
using Arrivals = std::map<Participant, Nanoseconds>;  // from when on they count
using AllArrivals = std::map<GenerationKey, Arrivals>;
using Ends = std::map<std::pair<GenerationKey, Participant>, Nanoseconds>;  // of calls

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

Ends ends_of(const History& history) {
  Ends ends;
  for (const Record& r : history.records)
    if (r.kind == Record::Kind::kDone) ends[{{r.group, r.generation}, {r.node, r.participant}}] = r.at;
  return ends;
}

// A call without a number that has failed in the generation that it was counted in goes on to a later one, under which
// it is written down. Others are released from the first one where it, or they, do not run or are cut off.
void add_those_who_went_on(const History& history, const Record& r, const AllArrivals& arrived, const Ends& ends,
                           std::set<Participant>& here) {
  if (history.groups[r.group].numbered) return;
  for (auto later = arrived.upper_bound({r.group, r.generation});
       later != arrived.end() && later->first.first == r.group; ++later)
    for (const auto& [participant, from] : later->second) {
      const auto ended = ends.find({later->first, participant});
      if (from > r.at || ended == ends.end()) continue;
      const bool split =
          troubled(history, participant.first, from, ended->second) || troubled(history, r.node, from, ended->second);
      if (split) here.insert(participant);
    }
}

}  // namespace

Findings check_release(const History& history) {
  AllArrivals arrived;
  const Ends ends = ends_of(history);
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
    here.merge(counted(arrived[{r.group, kUnknownGeneration}], r.at));  // it may have been this one
    add_those_who_went_on(history, r, arrived, ends, here);
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
