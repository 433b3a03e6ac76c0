#include <algorithm>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {
namespace {

using CallKey = std::tuple<std::uint32_t, NodeId, std::uint32_t, Generation>;
CallKey key_of(const Record& r) { return {r.group, r.node, r.participant, r.generation}; }

using OpenCalls = std::map<CallKey, Record>;

void on_done(const History& history, const Record& r, OpenCalls& calls, Faults& faults) {
  const auto call = calls.find(key_of(r));
  if (call == calls.end()) {
    faults.push_back(describe(history, r) + "answered without a call, or once more");
    return;
  }
  const Nanoseconds deadline = call->second.deadline;
  if (deadline != kNever && r.at > std::max(deadline, call->second.at) + history.grace)
    faults.push_back(describe(history, r) + "answered " + std::to_string(r.at - deadline) + " ns after its deadline");
  if (r.verdict == Verdict::kPending) faults.push_back(describe(history, r) + "answered without a verdict");
  calls.erase(call);
}

}  // namespace

Faults check_liveness(const History& history) {
  OpenCalls calls;
  Faults faults;
  for (const Record& r : history.records) {
    if (r.kind == Record::Kind::kArrived) calls.emplace(key_of(r), r);
    if (r.kind == Record::Kind::kDone) on_done(history, r, calls, faults);
  }
  for (const auto& [key, call] : calls) faults.push_back(describe(history, call) + "never answered");
  return faults;
}

}  // namespace fibocast
