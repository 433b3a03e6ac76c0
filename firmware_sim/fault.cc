#include "firmware_sim/fault.h"

#include <algorithm>

namespace fibocast {
namespace {

// To the microsecond: "12.05 ms".
std::string in_milliseconds(Nanoseconds time) {
  std::string text = std::to_string(time / 1'000'000);
  if (const Nanoseconds micros = time / 1'000 % 1'000; micros > 0) {
    text += '.' + std::to_string(1'000 + micros).substr(1);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text + " ms";
}

std::string list(const std::vector<NodeId>& nodes) {
  std::string text;
  for (const NodeId node : nodes) {
    if (!text.empty()) text += ',';
    text += std::to_string(node);
  }
  return text;
}

}  // namespace

const char* kind_name(Fault::Kind kind) {
  constexpr const char* kNames[] = {"loss",    "duplicate", "reorder", "delay", "partition",
                                    "one-way", "pause",     "crash",   "slow",  "clock-jump"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool is_of_messages(Fault::Kind kind) { return kind <= Fault::Kind::kOneWay; }

bool has_probability(Fault::Kind kind) {
  return kind == Fault::Kind::kLoss || kind == Fault::Kind::kDuplicate || kind == Fault::Kind::kDelay;
}

bool has_time(Fault::Kind kind) {
  return kind == Fault::Kind::kReorder || kind == Fault::Kind::kDelay || kind == Fault::Kind::kSlow ||
         kind == Fault::Kind::kClockJump;
}

bool concerns(const Fault& fault, NodeId node) {
  return (fault.nodes.empty() && is_of_messages(fault.kind)) || std::ranges::binary_search(fault.nodes, node);
}

bool may_outlast(const Fault& fault, Nanoseconds suspicion) {
  return (fault.kind == Fault::Kind::kReorder || fault.kind == Fault::Kind::kDelay) && 2 * fault.time >= suspicion;
}

std::string objection(const Fault& fault, std::uint32_t nodes) {
  const std::string name = kind_name(fault.kind);
  if (fault.begins < 0 || fault.heals <= fault.begins) return name + ": it heals before it begins";
  if (!(fault.probability >= 0 && fault.probability <= 1)) return name + ": the probability is not within 0 to 1";
  if (has_time(fault.kind) && fault.time <= 0) return name + ": needs a time above 0";
  if (!std::ranges::is_sorted(fault.nodes)) return name + ": the nodes are not in ascending order";
  if (!fault.nodes.empty() && fault.nodes.back() >= nodes)
    return name + ": node " + std::to_string(fault.nodes.back()) + " is not one of the " + std::to_string(nodes);
  const bool splits = fault.kind == Fault::Kind::kPartition || fault.kind == Fault::Kind::kOneWay;
  if (fault.nodes.empty() && (splits || !is_of_messages(fault.kind))) return name + ": needs nodes";
  return {};
}

std::string describe(const Fault& fault) {
  std::string text = kind_name(fault.kind);
  const auto add = [&text](const char* word, const std::string& what) {
    text += word;
    text += what;
  };
  if (has_probability(fault.kind))
    add(" ", std::to_string(static_cast<int>(fault.probability * 100 + 0.5))), text += " %";
  if (has_time(fault.kind)) add(" of ", in_milliseconds(fault.time));
  if (!fault.nodes.empty()) add(" of ", list(fault.nodes));
  add(" from ", in_milliseconds(fault.begins));
  fault.heals == kNever ? add(" on", "") : add(" to ", in_milliseconds(fault.heals));
  return text;
}

}  // namespace fibocast
