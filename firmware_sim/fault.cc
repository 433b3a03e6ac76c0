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
  constexpr const char* kNames[] = {"loss",  "duplicate", "reorder",    "delay", "partition", "one-way", "pause",
                                    "crash", "slow",      "clock-jump", "reset", "stall",     "throttle"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool is_of_messages(Fault::Kind kind) { return kind <= Fault::Kind::kOneWay; }

bool is_of_connections(Fault::Kind kind) { return kind >= Fault::Kind::kReset; }

bool has_probability(Fault::Kind kind) {
  return kind == Fault::Kind::kLoss || kind == Fault::Kind::kDuplicate || kind == Fault::Kind::kDelay ||
         kind == Fault::Kind::kReset;
}

bool has_time(Fault::Kind kind) {
  return kind == Fault::Kind::kReorder || kind == Fault::Kind::kDelay || kind == Fault::Kind::kSlow ||
         kind == Fault::Kind::kClockJump || kind == Fault::Kind::kThrottle;
}

bool concerns(const Fault& fault, NodeId node) {
  return (fault.nodes.empty() && is_of_messages(fault.kind)) || std::ranges::binary_search(fault.nodes, node);
}

bool may_outlast(const Fault& fault, Nanoseconds suspicion) {
  return (fault.kind == Fault::Kind::kReorder || fault.kind == Fault::Kind::kDelay) && 2 * fault.time >= suspicion;
}

Nanoseconds shortest_cut(Nanoseconds suspicion, bool over_streams) { return suspicion / (over_streams ? 4 : 2); }

bool cuts(Fault::Kind kind) {
  return kind == Fault::Kind::kPartition || kind == Fault::Kind::kOneWay || kind == Fault::Kind::kStall;
}

std::vector<Stretch> merged(std::vector<Stretch> stretches) {
  std::ranges::sort(stretches, {}, &Stretch::begins);
  std::vector<Stretch> merged;
  for (const Stretch& s : stretches) {
    if (merged.empty() || s.begins > merged.back().ends) {
      merged.push_back(s);
      continue;
    }
    merged.back().ends = std::max(merged.back().ends, s.ends);
    merged.back().crash = merged.back().crash || s.crash;
  }
  return merged;
}

namespace {

// Until both have dialled, and one has asked and the other answered. Who dials while nothing passes tries again after 1
// s.
Stretch until_mended(const Fault& reset, const std::vector<Fault>& faults, Nanoseconds way) {
  constexpr Nanoseconds kDialAgain = 5 * kMillisecond, kAnswer = kSecond;
  Stretch stretch{reset.begins, reset.begins + kDialAgain + 6 * way, false};
  for (const Fault& cut : faults)
    if (cuts(cut.kind) && cut.begins <= stretch.ends && cut.heals >= stretch.begins)
      stretch.ends = cut.heals == kNever ? kNever : std::max(stretch.ends, cut.heals + kAnswer);
  return stretch;
}

}  // namespace

std::vector<Stretch> storms(const std::vector<Fault>& faults, Nanoseconds way, Nanoseconds suspicion) {
  Nanoseconds late = 0;
  for (const Fault& fault : faults)
    if (fault.kind == Fault::Kind::kDelay || fault.kind == Fault::Kind::kReorder) late = std::max(late, fault.time);
  std::vector<Stretch> all;
  for (const Fault& fault : faults)
    if (fault.kind == Fault::Kind::kReset) all.push_back(until_mended(fault, faults, way + late));
  all = merged(std::move(all));
  std::erase_if(all, [&](const Stretch& s) { return s.ends - s.begins < suspicion / 2; });
  return all;
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
