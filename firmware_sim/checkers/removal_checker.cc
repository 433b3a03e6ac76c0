#include <algorithm>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {
namespace {

std::string about(const HistoryGroup& group) {
  return "group " + group.name + " of " + std::to_string(group.members.size());
}

bool crashed_after(const History& history, NodeId node, Nanoseconds time) {
  return std::ranges::any_of(history.records, [&](const Record& r) {
    return r.kind == Record::Kind::kCrashed && r.node == node && r.at >= time;
  });
}

// Who removed it by then, and has not forgotten.
bool has_witness(const History& history, const HistoryGroup& group, Nanoseconds by) {
  return std::ranges::any_of(group.removals,
                             [&](const Removal& r) { return r.at <= by && !crashed_after(history, r.node, r.at); });
}

constexpr Nanoseconds kTimeToHear = 10'000'000'000;

const HistoryGroup* group_of(const History& history, CreationId creation) {
  const auto at = std::ranges::find(history.groups, creation, &HistoryGroup::creation);
  return at == history.groups.end() ? nullptr : &*at;
}

void check_leftover(const History& history, const Leftover& there, Findings& findings) {
  const HistoryGroup* group = group_of(history, there.creation);
  if (group == nullptr || !has_witness(history, *group, there.at - kTimeToHear)) return;
  findings.push_back("node " + std::to_string(there.node) + " at " + std::to_string(there.at) +
                     " ns: " + about(*group) + " is there, it was removed at " + std::to_string(group->removed));
}

const HistoryAttempt* attempt_of(const HistoryGroup& group, CreationId creation) {
  const auto at = std::ranges::find(group.attempts, creation, &HistoryAttempt::creation);
  return at == group.attempts.end() ? nullptr : &*at;
}

// All members of the group have it too, as far as they run.
void check_others(const History& history, const HistoryGroup& group, NodeId node, CreationId there,
                  Findings& findings) {
  for (const NodeId member : group.members) {
    const NodeEnd& end = history.ends[member];
    if (!end.up || std::ranges::count(end.groups, there) > 0) continue;
    return findings.push_back("node " + std::to_string(member) + " at the end: lacks " + about(group) +
                              ", which node " + std::to_string(node) + " has");
  }
}

// Whoever began to make it was gone, or is content with less: it is everywhere or nowhere.
void check_attempt(const History& history, NodeId node, CreationId there, Findings& findings) {
  for (const HistoryGroup& group : history.groups) {
    const HistoryAttempt* attempt = attempt_of(group, there);
    if (attempt == nullptr) continue;
    if (!attempt->removed) check_others(history, group, node, there, findings);
    return;
  }
  findings.push_back("node " + std::to_string(node) + " at the end: has a group that nobody made");
}

void check_end(const History& history, NodeId node, CreationId there, Findings& findings) {
  const HistoryGroup* group = group_of(history, there);
  if (group == nullptr) return check_attempt(history, node, there, findings);
  const std::string who = "node " + std::to_string(node) + " at the end: ";
  if (group->removed == kNever) check_others(history, *group, node, there, findings);
  if (group->removed != kNever && has_witness(history, *group, kNever))
    findings.push_back(who + about(*group) + " is there, it was removed at " + std::to_string(group->removed));
}

// Each call of a group that was removed ends soon, unless its node was not told.
void check_calls(const History& history, Findings& findings) {
  std::map<std::tuple<std::uint32_t, NodeId, std::uint32_t>, Nanoseconds> called;
  for (const Record& r : history.records) {
    const std::tuple key{r.group, r.node, r.participant};
    if (r.kind == Record::Kind::kArrived) called[key] = r.at;
    if (r.kind != Record::Kind::kDone || !removed_by(history, r.group, r.at)) continue;
    const Nanoseconds since = std::max(called[key], history.groups[r.group].removed);
    if (r.at > since + history.grace && !troubled(history, r.node, since, r.at))
      findings.push_back(describe(history, r) + "answered " + std::to_string(r.at - since) +
                         " ns after its group was removed");
  }
}

}  // namespace

Findings check_removals(const History& history) {
  Findings findings;
  for (const Vanishing& v : history.vanishings)
    if (!removed_by(history, v.group, v.at))
      findings.push_back("at " + std::to_string(v.at) + " ns node " + std::to_string(v.node) + ": " +
                         about(history.groups[v.group]) + " is not there, and nobody has removed it");
  for (const HistoryGroup& group : history.groups)
    if (group.must_exist && group.creation == kUnknownCreation) findings.push_back(about(group) + " could not be made");
  for (const Leftover& there : history.leftovers) check_leftover(history, there, findings);
  for (NodeId node = 0; node < history.ends.size(); ++node)
    for (const CreationId there : history.ends[node].groups) check_end(history, node, there, findings);
  check_calls(history, findings);
  return findings;
}

}  // namespace fibocast
