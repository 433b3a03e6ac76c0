#include "firmware_sim/simulate/replay_file.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "collectives/algorithm_catalog.h"
#include "collectives/element_names.h"
#include "collectives/schedule.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

TreeSpec tree_of(const Json& json) {
  return {static_cast<TreeKind>(json.at("kind").get<int>()), json.at("arity").get<std::uint32_t>(),
          json.at("s").get<std::uint64_t>(), json.at("r").get<std::uint64_t>()};
}

NicSettings machine_of(const Json& json) {
  NicSettings machine;
  machine.enabled = true;
  machine.send = json.at("s_ns").get<Nanoseconds>();
  machine.latency = json.at("l_ns").get<Nanoseconds>();
  machine.receive = json.at("o_ns").get<Nanoseconds>();
  machine.send_per_byte = json.at("send_per_byte_ns").get<double>();
  machine.receive_per_byte = json.at("receive_per_byte_ns").get<double>();
  machine.ports = json.at("ports") == "shared" ? NicPorts::kShared : NicPorts::kIndependent;
  return machine;
}

// Reads the object "fibocast" of a trace; throws nlohmann's exceptions for one of another form.
class Reader {
 public:
  explicit Reader(const std::string& algorithm) : algorithm_(algorithm) {}

  Incident read(const Json& about) {
    incident_.machine = machine_of(about.at("machine"));
    for (const Json& group : about.at("groups")) read_group(group);
    for (const Json& operation : about.at("operations"))
      if (operation.at("whole").get<bool>()) read_operation(operation);
    std::ranges::stable_sort(incident_.operations, {}, &IncidentOperation::generation);
    return std::move(incident_);
  }

 private:
  void read_group(const Json& json) {
    if (json.at("participants").get<std::uint32_t>() != 1) return;
    IncidentGroup group;
    group.name = json.at("name").get<std::string>();
    group.members = json.at("members").get<std::vector<NodeId>>();
    group.plan.reduction = tree_of(json.at("reduction"));
    group.plan.distribution = tree_of(json.at("distribution"));
    // The trace does not hold a given tree's table.
    if (has_given_tree(group.plan) || group.members.empty() || !is_valid(group.plan)) return;
    places_[json.at("id").get<std::uint32_t>()] = incident_.groups.size();
    incident_.groups.push_back(std::move(group));
  }

  void read_operation(const Json& json) {
    const auto place = places_.find(json.at("group").get<std::uint32_t>());
    const auto operation = operation_by_name(json.at("operation").get<std::string>());
    if (place == places_.end() || !operation) return;
    IncidentOperation o;
    o.group = place->second;
    o.generation = json.at("generation").get<Generation>();
    o.root = json.at("root").get<Rank>();
    o.called = json.at("called_ns").get<std::vector<Nanoseconds>>();
    o.activated = json.at("activated_ns").get<std::vector<Nanoseconds>>();
    o.shape = {.operation = *operation, .ranks = static_cast<Rank>(incident_.groups[o.group].members.size())};
    o.shape.total_bytes = json.at("bytes").get<std::uint64_t>();
    o.shape.segment_bytes = json.at("segment_bytes").get<std::uint32_t>();
    std::string error;
    o.shape.type = element_type_by_name(json.at("type").get<std::string>(), error).value_or(ElementType::kBytes);
    o.shape.op =
        combine_operator_by_name(json.at("operator").get<std::string>(), error).value_or(CombineOperator::kNone);
    o.shape.choice = choice_of(*operation, json.at("algorithm").get<std::string>());
    if (o.called.size() == o.shape.ranks && o.activated.size() == o.shape.ranks && o.root < o.shape.ranks)
      incident_.operations.push_back(std::move(o));
  }

  AlgorithmChoice choice_of(Operation operation, const std::string& recorded) const {
    std::string error;
    if (!algorithm_.empty())
      if (const auto other = choose_algorithm(operation, algorithm_, error)) return *other;
    return choose_algorithm(operation, recorded, error).value_or(AlgorithmChoice{});
  }

  std::string algorithm_;
  Incident incident_;
  std::map<std::uint32_t, std::size_t> places_;  // in incident_.groups, by id
};

std::vector<Rank> order_of(const std::vector<Nanoseconds>& activated) {
  std::vector<Rank> ranks(activated.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::ranges::stable_sort(ranks, {}, [&](Rank r) { return activated[r]; });
  return ranks;
}

Nanoseconds duration(const IncidentOperation& o, const std::vector<Nanoseconds>& activated) {
  return *std::ranges::max_element(activated) - *std::ranges::max_element(o.called);
}

}  // namespace

std::optional<Incident> read_incident(const std::string& file, const std::string& algorithm, std::string& error) {
  std::ifstream in(file);
  if (!in) {
    error = file + " cannot be read";
    return {};
  }
  try {
    return Reader(algorithm).read(Json::parse(in).at("fibocast"));
  } catch (const nlohmann::json::exception&) {
    error = file + " is no trace: write one with fibocast trace";
    return {};
  }
}

Json replay_json(const Incident& incident, const std::vector<std::vector<Nanoseconds>>& now) {
  Json operations = Json::array();
  std::uint64_t same = 0;
  for (std::size_t i = 0; i < incident.operations.size(); ++i) {
    const IncidentOperation& o = incident.operations[i];
    const Inversions inversions = count_inversions(o.activated, now[i]);
    same += inversions.pairs == 0 ? 1 : 0;
    operations.push_back({{"group", incident.groups[o.group].name},
                          {"generation", o.generation},
                          {"operation", operation_name(o.shape.operation)},
                          {"algorithm", algorithm_name(o.shape.operation, o.shape.choice)},
                          {"recorded_ns", duration(o, o.activated)},
                          {"replayed_ns", duration(o, now[i])},
                          {"inversions", inversions.pairs},
                          {"largest_inversion_ns", inversions.largest},
                          {"recorded_order", order_of(o.activated)},
                          {"replayed_order", order_of(now[i])}});
  }
  return {{"operations", operations}, {"same_order", same}, {"of", incident.operations.size()}};
}

std::string replay_text(const Json& answer) {
  std::ostringstream out;
  for (const Json& o : answer["operations"]) {
    out << o["group"].get<std::string>() << " " << o["generation"] << ": " << o["operation"].get<std::string>()
        << " by " << o["algorithm"].get<std::string>() << " took " << o["recorded_ns"].get<double>() / 1000
        << " us from the last call to the last activation, and now " << o["replayed_ns"].get<double>() / 1000 << " us";
    if (o["inversions"] != 0)
      out << "; " << o["inversions"] << " pairs of ranks in the other order, by at most "
          << o["largest_inversion_ns"].get<double>() / 1000 << " us";
    out << "\n";
  }
  out << answer["same_order"] << " of " << answer["of"] << " operations activated their ranks in the recorded order.\n";
  return out.str();
}

}  // namespace fibocast
