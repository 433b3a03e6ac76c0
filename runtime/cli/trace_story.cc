#include "runtime/cli/trace_story.h"

#include <algorithm>

#include "runtime/node/flight_recorder.h"

namespace fibocast {
namespace {

using Kind = FlightEvent::Kind;

// Descriptions end with kGroup; what came before it since the last one is the group's.
class GroupReader {
 public:
  explicit GroupReader(std::map<std::uint32_t, TracedGroup>& groups) : groups_(groups) {}

  void read(const FlightEvent& e) {
    TracedGroup& g = half_read_[e.group];
    switch (e.kind) {
      case Kind::kGroupName:
        for (std::uint64_t bytes = e.value; bytes != 0; bytes >>= 8) g.name += static_cast<char>(bytes & 0xff);
        return;
      case Kind::kGroupMembers:
        for (std::uint64_t i = 0; i < (e.value & 0xffff'ffff); ++i)
          g.members.push_back(static_cast<NodeId>((e.value >> 32) + i));
        return;
      case Kind::kGroupTree: tree(g, e) = {static_cast<TreeKind>(e.stage), e.peer, e.value, 0}; return;
      case Kind::kGroupTreeLatency: tree(g, e).r = e.value; return;
      case Kind::kGroup:
        g.participants = static_cast<std::uint32_t>(e.value);
        if (!g.members.empty()) groups_[e.group] = g;
        half_read_.erase(e.group);
        return;
      default: half_read_.erase(e.group);
    }
  }

 private:
  static TreeSpec& tree(TracedGroup& g, const FlightEvent& e) { return e.detail == 0 ? g.reduction : g.distribution; }

  std::map<std::uint32_t, TracedGroup>& groups_;
  std::map<std::uint32_t, TracedGroup> half_read_;
};

void read_operation(const FlightEvent& e, Rank rank, TracedOperation& o) {
  TracedRank& r = o.ranks[rank];
  o.operation = e.operation;
  switch (e.kind) {
    case Kind::kOpen:
      o.opened = true;
      o.root = e.peer;
      unpack_choice(e.value, o.choice, o.type, o.op);
      return;
    case Kind::kSize: o.bytes = e.value, o.segment_bytes = e.peer; return;
    case Kind::kCall: r.called = e.at; return;
    case Kind::kActivated: r.activated = e.at; return;
    case Kind::kVerdict: r.ended = e.at, r.verdict = static_cast<Verdict>(e.detail); return;
    default: return;
  }
}

void read_operations(const NodeTrace& trace, TraceStory& story) {
  for (const FlightEvent& e : trace.events) {
    if (e.kind < Kind::kOpen || e.kind > Kind::kVerdict || !story.groups.contains(e.group)) continue;
    const auto& members = story.groups[e.group].members;
    const auto at = std::ranges::find(members, trace.rank);
    if (at == members.end()) continue;
    TracedOperation& o = story.operations[{e.group, e.generation}];
    o.ranks.resize(members.size());
    read_operation(e, static_cast<Rank>(at - members.begin()), o);
  }
}

}  // namespace

bool TracedOperation::is_whole() const {
  const bool push = is_push(operation);
  return opened && std::ranges::all_of(ranks, [&](const TracedRank& r) {
           return (r.called > 0 || push) && r.activated > 0 && r.verdict == Verdict::kOk;
         });
}

TraceStory tell_story(const std::vector<NodeTrace>& traces) {
  TraceStory story;
  GroupReader groups(story.groups);
  for (const NodeTrace& trace : traces) {
    for (const FlightEvent& e : trace.events)
      if (e.kind <= Kind::kGroup) groups.read(e);
    if (trace.events.empty()) continue;
    story.from = std::max(story.from, trace.events.front().at);
    story.to = story.to == 0 ? trace.events.back().at : std::min(story.to, trace.events.back().at);
  }
  for (const NodeTrace& trace : traces) read_operations(trace, story);
  return story;
}

}  // namespace fibocast
