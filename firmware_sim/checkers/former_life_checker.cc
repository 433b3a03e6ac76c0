#include <algorithm>
#include <map>
#include <utility>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {
namespace {

// What ended just before the start: how long the messages about it take cannot be told apart from that.
constexpr Nanoseconds kJustBefore = 500 * kMillisecond;

using Participant = std::pair<NodeId, std::uint32_t>;
using Arrivals = std::map<Participant, Nanoseconds>;  // the last ones

// What is known of one barrier so far.
struct Barrier {
  Nanoseconds first_ok = kNever;
  Arrivals arrived;
};

// When the node was started for the life in which it called then; 0: it is its first.
Nanoseconds birth(const History& history, NodeId node, Nanoseconds called) {
  Nanoseconds last = 0;
  for (const Restart& r : history.restarts)
    if (r.node == node && r.at <= called) last = std::max(last, r.at);
  return last;
}

// Where all were started again the numbers begin anew: they have all called since somebody was released. `unknown`: in
// this generation, perhaps.
bool all_came_since(const Barrier& barrier, const Arrivals& unknown) {
  return std::ranges::all_of(barrier.arrived, [&](const auto& entry) {
    const auto other = unknown.find(entry.first);
    return std::max(entry.second, other == unknown.end() ? 0 : other->second) > barrier.first_ok;
  });
}

}  // namespace

Findings check_former_lives(const History& history) {
  std::map<GenerationKey, Barrier> barriers;
  Findings findings;
  for (const Record& r : history.records) {
    if (r.kind == Record::Kind::kCrashed || r.operation != Operation::kBarrier) continue;
    Barrier& barrier = barriers[{r.group, r.generation}];
    if (r.kind == Record::Kind::kArrived) barrier.arrived[{r.node, r.participant}] = r.at;
    if (r.kind != Record::Kind::kDone || r.verdict != Verdict::kOk) continue;
    const auto call = barrier.arrived.find({r.node, r.participant});
    const Nanoseconds born = call == barrier.arrived.end() ? 0 : birth(history, r.node, call->second);
    if (barrier.first_ok < born - kJustBefore &&
        !all_came_since(barrier, barriers[{r.group, kUnknownGeneration}].arrived))
      findings.push_back(describe(history, r) + "released, as somebody was at " + std::to_string(barrier.first_ok) +
                         " ns, before its node was started again");
    barrier.first_ok = std::min(barrier.first_ok, r.at);
  }
  return findings;
}

}  // namespace fibocast
