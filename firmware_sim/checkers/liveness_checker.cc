#include <algorithm>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {
namespace {

using CallKey = std::tuple<std::uint32_t, NodeId, std::uint32_t, Generation>;
CallKey key_of(const Record& r) { return {r.group, r.node, r.participant, r.generation}; }

// Who was not scheduled then can answer only when it is.
Nanoseconds awake(const History& history, NodeId node, Nanoseconds time) {
  for (const Fault& fault : history.faults)
    if (fault.kind == Fault::Kind::kPause && concerns(fault, node) && fault.begins <= time + history.grace &&
        fault.heals > time)
      time = fault.heals;
  return time;
}

using OpenCalls = std::map<CallKey, Record>;

void on_done(const History& history, const Record& r, OpenCalls& calls, Findings& findings) {
  const auto call = calls.find(key_of(r));
  if (call == calls.end()) {
    findings.push_back(describe(history, r) + "answered without a call, or once more");
    return;
  }
  const Nanoseconds deadline = call->second.deadline;
  const Nanoseconds due = awake(history, r.node, std::max({deadline, call->second.at, call->second.not_before}));
  if (deadline != kNever && r.at > due + history.grace)
    findings.push_back(describe(history, r) + "answered " + std::to_string(r.at - deadline) + " ns after its deadline");
  if (r.verdict == Verdict::kPending) findings.push_back(describe(history, r) + "answered without a verdict");
  calls.erase(call);
}

}  // namespace

Findings check_liveness(const History& history) {
  OpenCalls calls;
  Findings findings;
  for (const Record& r : history.records) {
    if (r.kind == Record::Kind::kCrashed)
      std::erase_if(calls, [&r](const auto& call) { return std::get<1>(call.first) == r.node; });
    if (r.kind == Record::Kind::kArrived) calls.emplace(key_of(r), r);
    if (r.kind == Record::Kind::kDied || r.kind == Record::Kind::kGaveUp) calls.erase(key_of(r));
    if (r.kind == Record::Kind::kDone) on_done(history, r, calls, findings);
  }
  for (const auto& [key, call] : calls) findings.push_back(describe(history, call) + "never answered");
  return findings;
}

}  // namespace fibocast
