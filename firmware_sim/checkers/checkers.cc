#include "firmware_sim/checkers/checkers.h"

#include <algorithm>
#include <vector>

namespace fibocast {

std::string describe(const History& history, const Record& record) {
  const std::string time = "at " + std::to_string(record.at) + " ns node " + std::to_string(record.node);
  if (record.kind == Record::Kind::kCrashed) return time + ": ";
  if (record.kind == Record::Kind::kSent || record.kind == Record::Kind::kReceived)
    return time + " peer " + std::to_string(record.peer) + " tag " + std::to_string(record.tag) + ": ";
  return time + " participant " + std::to_string(record.participant) + " group " + history.groups[record.group].name +
         " generation " + std::to_string(record.generation) + ": ";
}

namespace {

bool hits(const History& history, const Fault& fault, NodeId node) {
  if (is_of_connections(fault.kind)) return false;
  const bool splits = fault.kind == Fault::Kind::kPartition || fault.kind == Fault::Kind::kOneWay;
  const bool of_node = !is_of_messages(fault.kind) || may_outlast(fault, history.suspicion);
  return splits || (of_node && concerns(fault, node));
}

// The node's troubles; those that overlap are one. Who is out of reach for long may be taken for lost, as who crashed.
std::vector<Stretch> troubles_of(const History& history, NodeId node) {
  std::vector<Stretch> all = storms(history.faults, history.way, history.suspicion);
  for (Stretch& storm : all) storm.crash = true;
  for (const Fault& fault : history.faults) {
    const Nanoseconds ends = fault.kind == Fault::Kind::kClockJump ? fault.begins : fault.heals;
    if (hits(history, fault, node)) all.push_back({fault.begins, ends, fault.kind == Fault::Kind::kCrash});
  }
  return merged(std::move(all));
}

}  // namespace

bool troubled(const History& history, NodeId node, Nanoseconds from, Nanoseconds to, Nanoseconds least) {
  return std::ranges::any_of(troubles_of(history, node), [&](const Stretch& s) {
    const bool long_enough = s.ends == kNever || s.crash || s.ends - s.begins >= least;
    return long_enough && s.begins <= to && (s.ends == kNever || s.ends + history.grace >= from);
  });
}

bool clock_jumps(const History& history, NodeId node) {
  return std::ranges::any_of(history.faults, [node](const Fault& fault) {
    return fault.kind == Fault::Kind::kClockJump && concerns(fault, node);
  });
}

bool crashed(const History& history, std::uint32_t group, Nanoseconds from, Nanoseconds to) {
  return std::ranges::any_of(history.records, [&](const Record& r) {
    const std::vector<NodeId>& members = history.groups[group].members;
    return r.kind == Record::Kind::kCrashed && r.at >= from && r.at <= to && std::ranges::count(members, r.node) > 0;
  });
}

bool removed_by(const History& history, std::uint32_t group, Nanoseconds time) {
  return history.groups[group].removed <= time;
}

Findings check_all(const History& history) {
  Findings all = check_names(history);
  if (!all.empty()) return all;  // the others look up who is named
  for (auto* check : {check_release, check_former_lives, check_multicast, check_messages, check_generation_order,
                      check_liveness, check_verdicts, check_losses, check_callers, check_success, check_results,
                      check_removals, check_bounds, check_leaks})
    for (std::string& fault : check(history)) all.push_back(std::move(fault));
  return all;
}

}  // namespace fibocast
