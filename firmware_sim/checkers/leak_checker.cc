#include <algorithm>
#include <map>
#include <tuple>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast {
namespace {

// Generous: a probe and its answer per peer, and the alarms around them.
constexpr std::uint64_t kIdleWakesPerPeer = 20;

// An application here began when others had been through with generations, of which payloads may have come: with all
// of them, if it made no call.
bool began_late(const History& history, NodeId node) {
  std::map<std::tuple<std::uint32_t, NodeId, std::uint32_t>, Generation> begun;
  for (const Record& r : history.records)
    if (r.kind == Record::Kind::kArrived) begun.try_emplace({r.group, r.node, r.participant}, r.generation);
  for (const auto& [caller, first] : begun) {
    const auto& [group, at, participant] = caller;
    const HistoryGroup& g = history.groups[group];
    if (!g.numbered || std::ranges::find(g.members, node) == g.members.end()) continue;
    for (std::uint32_t p = 0; p < g.participants; ++p) {
      const auto here = begun.find({group, node, p});
      if (here == begun.end() || here->second > 0) return true;
    }
  }
  return false;
}

// Payloads stay until they are collected, or their slot is needed: applications that died for good collect nothing, nor
// do those that were outside of their group meanwhile and go on where the others are.
bool may_keep_payloads(const History& history, NodeId node) {
  const bool goes_on = std::ranges::any_of(history.groups, &HistoryGroup::goes_on);
  return history.somebody_crashed || history.somebody_stayed_away || (goes_on && troubled(history, node, 0, kNever));
}

}  // namespace

Findings check_leaks(const History& history) {
  Findings findings;
  for (std::size_t i = 0; i < history.ends.size(); ++i) {
    const NodeEnd& end = history.ends[i];
    const std::string node = "node " + std::to_string(i) + " at the end: ";
    const bool kept = may_keep_payloads(history, static_cast<NodeId>(i));
    const bool missed = end.buffers > 0 && began_late(history, static_cast<NodeId>(i));
    if (end.payload_bytes > 0 && !kept && !missed)
      findings.push_back(node + std::to_string(end.payload_bytes) + " payload bytes in use");
    if (end.buffers > 0 && !kept && !missed)
      findings.push_back(node + std::to_string(end.buffers) + " buffers were not given back");
    if (end.requests > 0 && !kept) findings.push_back(node + std::to_string(end.requests) + " requests in the table");
    if (end.repeated_answers > 0) findings.push_back(node + "answered a call twice");
    if (end.stuck) findings.push_back(node + "wakes itself for ever without time passing");
    // Who has data for an application that never comes watches its node.
    if (end.idle_wakes > kIdleWakesPerPeer * history.ends.size() && !history.somebody_stayed_away)
      findings.push_back(node + "woke " + std::to_string(end.idle_wakes) + " times in an idle second");
  }
  return findings;
}

}  // namespace fibocast
