// fibocast plan workstations: a broadcast, scatter or gather on different nodes (Banikazemi et al. 1999).
#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>

#include "runtime/cli/plan_answer.h"
#include "runtime/cli/plan_command.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

struct NodeNames {
  const WorkstationCluster& cluster;
  const std::string& operator[](Rank v) const { return cluster.types[cluster.nodes[v]].name; }
};

Json times_json(const std::vector<std::uint64_t>& ticks, const TickedWorkstations& machine) {
  Json times = Json::array();
  for (const std::uint64_t time : ticks) times.push_back(to_json(machine.time(time)));
  return times;
}

Json heading(const PlanWorkstationsOptions& options, const WorkstationCluster& cluster, Rank root) {
  Json json = {{"operation", options.operation}, {"ranks", cluster.nodes.size()}, {"root", root}};
  json["bytes"] = options.nodes.bytes;
  json["preset"] = options.nodes.preset;
  json["unit"] = "us";
  return json;
}

void print_times(const Json& json, const WorkstationCluster& cluster, std::ostream& out) {
  out << json["operation"].get<std::string>() << " of " << json["bytes"] << " bytes from rank " << json["root"] << ": "
      << json["completion"] << " us\n\n";
  for (Rank v = 0; v < cluster.nodes.size(); ++v)
    out << v << "  " << NodeNames{cluster}[v] << "  at " << json["times"][v] << " us\n";
}

void print_gather(const Json& json, std::ostream& out) {
  out << "gather of " << json["bytes"] << " bytes to rank " << json["root"] << ": " << json["completion"]
      << " us by equation 12, " << json["completion_serialised"] << " us if the root's wire carries one at a time\n\n";
  for (std::size_t i = 0; i < json["arrive"].size(); ++i)
    out << "message " << i + 1 << "  arrives at " << json["arrive"][i] << ", taken in at " << json["receive"][i]
        << " us\n";
}

Json gather(Json json, const TickedWorkstations& machine, Rank root) {
  const GatherTimes literal = gather_times(machine.costs, root, GatherModel::kLiteral);
  const GatherTimes serialised = gather_times(machine.costs, root, GatherModel::kSerialised);
  json["completion"] = to_json(machine.time(literal.completion()));
  json["completion_serialised"] = to_json(machine.time(serialised.completion()));
  json["arrive"] = times_json(literal.arrive, machine);
  json["receive"] = times_json(literal.receive, machine);
  return json;
}

Json with_times(Json json, const std::vector<std::uint64_t>& times, const TickedWorkstations& machine) {
  json["completion"] = to_json(machine.time(*std::ranges::max_element(times)));
  json["times"] = times_json(times, machine);
  return json;
}

Json names_json(const WorkstationCluster& cluster) {
  Json names = Json::array();
  for (Rank v = 0; v < cluster.nodes.size(); ++v) names.push_back(NodeNames{cluster}[v]);
  return names;
}

// Nothing, and a sentence in `error`, if something is wrong.
Json computed(const PlanWorkstationsOptions& options, const WorkstationCluster& cluster, std::string& error) {
  if (options.root.value_or(0) >= cluster.nodes.size()) {
    error = "--root must be a rank, 0 to " + std::to_string(cluster.nodes.size() - 1);
    return {};
  }
  const TickedWorkstations machine = workstations_in_ticks(cluster, options.nodes.bytes);
  const Rank root = options.root.value_or(0);
  if (options.operation == "gather") return gather(heading(options, cluster, root), machine, root);
  if (options.operation == "scatter")
    return with_times(heading(options, cluster, root), scatter_times(machine.costs, root), machine);
  const auto tree = read_or_choose_tree(options.tree, machine.costs, options.root, error);
  if (!tree) return {};
  Json json = with_times(heading(options, cluster, tree->root()), activation_times(*tree, machine.costs), machine);
  json["tree"] = options.tree;
  Json children = Json::array();
  for (Rank v = 0; v < tree->size(); ++v) children.push_back(tree->children(v));
  json["children"] = std::move(children);
  return json;
}

// A sentence if something is wrong.
std::string answer(const PlanWorkstationsOptions& options, std::ostream& out) {
  if (options.operation != "broadcast" && options.operation != "scatter" && options.operation != "gather")
    return "--operation must be broadcast, scatter or gather";
  std::string error;
  const auto cluster = read_nodes(options.nodes, error);
  if (!cluster) return error;
  Json json = computed(options, *cluster, error);
  if (json.is_null()) return error;
  if (options.json) {
    json["nodes"] = names_json(*cluster);
    out << json.dump() << '\n';
  } else if (options.operation == "gather") {
    print_gather(json, out);
  } else {
    print_times(json, *cluster, out);
  }
  return {};
}

}  // namespace

int plan_workstations(const PlanWorkstationsOptions& options, std::ostream& out, std::ostream& err) {
  return answer_or_explain(options.json, out, err, [&](std::string& error) {
    error = answer(options, out);
    return error.empty() ? 0 : 2;
  });
}

void add_plan_workstations_command(CLI::App& plan, int& exit_code) {
  const auto options = std::make_shared<PlanWorkstationsOptions>();
  CLI::App* app = plan.add_subcommand("workstations", "Broadcast, scatter or gather on nodes that differ in speed");
  app->add_option("--operation", options->operation, "broadcast, scatter or gather")->capture_default_str();
  app->add_option("--tree", options->tree,
                  "of the broadcast: heterogeneous[:best|:plain], slow-first, hierarchical, optimum (up to 8 nodes), "
                  "binomial (MPICH's), sequential, .., file:PATH")
      ->capture_default_str();
  app->add_option("--root", options->root, "the rank that sends, or gathers; 0");
  add_nodes_options(*app, options->nodes);
  app->add_flag("--json", options->json, "one JSON document on stdout, nothing else there");
  app->add_flag("--quiet", options->quiet, "no progress and no remarks: there are none");
  app->footer(
      "Times are microseconds.\n"
      "Example: fibocast plan workstations --operation gather --configuration FFSS --bytes 1024 --preset literal");
  app->callback([options, &exit_code] { exit_code = plan_workstations(*options, std::cout, std::cerr); });
}

}  // namespace fibocast
