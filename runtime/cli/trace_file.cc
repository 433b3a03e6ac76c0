#include "runtime/cli/trace_file.h"

#include <algorithm>
#include <array>

#include "collectives/algorithm_catalog.h"
#include "collectives/element_names.h"
#include "collectives/schedule.h"

namespace fibocast {
namespace {

using Kind = FlightEvent::Kind;
constexpr Generation kLanes = 8;  // generations that may be open at once

// As the library's codes are called.
const char* verdict_name(Verdict verdict) {
  constexpr std::array kNames = {"PENDING",  "OK",    "DEADLINE_EXCEEDED", "PEER_LOST",   "CANCELLED",
                                 "MISMATCH", "STALE", "REFUSED",           "PARTITIONED", "PEER_LOST"};
  const auto index = static_cast<std::size_t>(verdict);
  return index < kNames.size() ? kNames[index] : "UNKNOWN";
}

double microseconds(Nanoseconds at) { return static_cast<double>(at) / 1000; }

std::string title(const TracedOperation& o, Generation generation) {
  return std::string(operation_name(o.operation)) + " " + std::to_string(generation);
}

// Writes one daemon's events.
class Process {
 public:
  Process(const NodeTrace& trace, const TraceStory& story, Json& events)
      : trace_(trace), story_(story), events_(events) {}

  void write() {
    events_.push_back({{"name", "process_name"},
                       {"ph", "M"},
                       {"pid", trace_.rank},
                       {"args", {{"name", "rank " + std::to_string(trace_.rank)}}}});
    for (const auto& [key, operation] : story_.operations) write_slice(key.first, key.second, operation);
    for (const FlightEvent& e : trace_.events) {
      if (e.kind == Kind::kSend || e.kind == Kind::kReceive) write_message(e);
      if (e.kind >= Kind::kPeerUp) write_peer(e);
    }
  }

 private:
  // Generations of a group that are open together lie side by side.
  std::uint64_t lane(std::uint32_t group, Generation generation) const {
    const auto at = std::distance(story_.groups.begin(), story_.groups.find(group));
    return static_cast<std::uint64_t>(at) * kLanes + generation % kLanes;
  }
  void write_slice(std::uint32_t group, Generation generation, const TracedOperation& o) {
    const auto& members = story_.groups.at(group).members;
    const auto at = std::ranges::find(members, trace_.rank);
    if (at == members.end()) return;
    const TracedRank& r = o.ranks[static_cast<std::size_t>(at - members.begin())];
    const Nanoseconds begin = r.called > 0 ? r.called : r.activated;
    if (begin == 0 || r.ended == 0) return;
    events_.push_back({{"name", title(o, generation)},
                       {"cat", story_.groups.at(group).name},
                       {"ph", "X"},
                       {"ts", microseconds(begin)},
                       {"dur", microseconds(std::max<Nanoseconds>(r.ended - begin, 1))},
                       {"pid", trace_.rank},
                       {"tid", lane(group, generation)},
                       {"args",
                        {{"activated", microseconds(r.activated)},
                         {"verdict", verdict_name(r.verdict)},
                         {"algorithm", algorithm_name(o.operation, o.choice)},
                         {"bytes", o.bytes}}}});
  }
  void write_message(const FlightEvent& e) {
    if (!story_.groups.contains(e.group)) return;
    const auto& members = story_.groups.at(e.group).members;
    const auto me = static_cast<Rank>(std::ranges::find(members, trace_.rank) - members.begin());
    const bool sends = e.kind == Kind::kSend;
    const Rank from = sends ? me : e.peer, to = sends ? e.peer : me;
    const std::string id = std::to_string(e.group) + "/" + std::to_string(e.generation) + "/" + std::to_string(from) +
                           ">" + std::to_string(to) + "/" + std::to_string(e.stage) + "/" + std::to_string(e.value);
    Json event{{"name", "message"},
               {"cat", story_.groups.at(e.group).name},
               {"ph", sends ? "s" : "f"},
               {"id", id},
               {"ts", microseconds(e.at)},
               {"pid", trace_.rank},
               {"tid", lane(e.group, e.generation)}};
    if (!sends) event["bp"] = "e";
    events_.push_back(std::move(event));
  }
  void write_peer(const FlightEvent& e) {
    const char* const whats[] = {" is up", " restarted", " refused", " is lost"};
    const char* what = whats[static_cast<int>(e.kind) - static_cast<int>(Kind::kPeerUp)];
    events_.push_back({{"name", "rank " + std::to_string(e.peer) + what},
                       {"ph", "i"},
                       {"s", "p"},
                       {"ts", microseconds(e.at)},
                       {"pid", trace_.rank},
                       {"tid", 0}});
  }

  const NodeTrace& trace_;
  const TraceStory& story_;
  Json& events_;
};

Json to_json(const TreeSpec& tree) {
  return {{"kind", static_cast<int>(tree.kind)}, {"arity", tree.arity}, {"s", tree.s}, {"r", tree.r}};
}

Json group_json(std::uint32_t id, const TracedGroup& g) {
  return {{"id", id},
          {"name", g.name},
          {"members", g.members},
          {"participants", g.participants},
          {"reduction", to_json(g.reduction)},
          {"distribution", to_json(g.distribution)}};
}

Json operation_json(std::uint32_t group, Generation generation, const TracedOperation& o) {
  Json called = Json::array(), activated = Json::array();
  for (const TracedRank& r : o.ranks) called.push_back(r.called), activated.push_back(r.activated);
  return {{"group", group},
          {"generation", generation},
          {"operation", operation_name(o.operation)},
          {"root", o.root},
          {"algorithm", algorithm_name(o.operation, o.choice)},
          {"bytes", o.bytes},
          {"segment_bytes", o.segment_bytes},
          {"type", element_type_name(o.type)},
          {"operator", combine_operator_name(o.op)},
          {"whole", o.is_whole()},
          {"called_ns", called},
          {"activated_ns", activated}};
}

Json machine_json(const NicSettings& m) {
  return {{"emulated", m.enabled},
          {"s_ns", m.send},
          {"l_ns", m.latency},
          {"o_ns", m.receive},
          {"send_per_byte_ns", m.send_per_byte},
          {"receive_per_byte_ns", m.receive_per_byte},
          {"ports", m.ports == NicPorts::kShared ? "shared" : "independent"}};
}

}  // namespace

Json trace_file(const std::vector<NodeTrace>& traces, const TraceStory& story) {
  Json events = Json::array(), groups = Json::array(), operations = Json::array(), nodes = Json::array();
  for (const NodeTrace& trace : traces) {
    Process(trace, story, events).write();
    nodes.push_back({{"rank", trace.rank}, {"overwritten", trace.first}, {"events", trace.events.size()}});
  }
  for (const auto& [id, group] : story.groups) groups.push_back(group_json(id, group));
  for (const auto& [key, o] : story.operations) operations.push_back(operation_json(key.first, key.second, o));
  Json about{{"version", 1}, {"from_ns", story.from}, {"to_ns", story.to}};
  about["machine"] = traces.empty() ? Json() : machine_json(traces.front().machine);
  about["nodes"] = std::move(nodes);
  about["groups"] = std::move(groups);
  about["operations"] = std::move(operations);
  Json file{{"displayTimeUnit", "ns"}};
  file["traceEvents"] = std::move(events);
  file["fibocast"] = std::move(about);
  return file;
}

}  // namespace fibocast
