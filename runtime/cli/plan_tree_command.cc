// fibocast plan tree: one tree with its times, drawn or as JSON.
#include <ostream>
#include <utility>
#include <vector>

#include "collectives/alpha_partition.h"
#include "collectives/tree_catalog.h"
#include "runtime/cli/plan_answer.h"
#include "runtime/cli/plan_command.h"
#include "runtime/cli/plan_timed_tree.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

constexpr Rank kMostTreeRanks = 10'000'000;  // a whole tree is kept in memory

TimedTree timed(Tree tree, const Costs& costs) {
  const CostModel& m = costs.ticked.model;
  std::vector<std::uint64_t> activation = activation_times(tree, m.send, m.receive());
  const std::uint64_t down = completion(tree, m.send, m.receive());
  const std::uint64_t up = reduction_completion(tree, m.send, m.occupancy, m.latency);
  return {std::move(tree), std::move(activation), down, up, costs.ticked.tick};
}

TimedTree timed(Tree tree, const TickedWorkstations& machine) {
  std::vector<std::uint64_t> activation = activation_times(tree, machine.costs);
  const std::uint64_t down = completion(tree, machine.costs);
  const std::uint64_t up = reduction_completion(tree, machine.costs);
  return {std::move(tree), std::move(activation), down, up, machine.tick};
}

void print(const PlanTreeOptions& options, const Costs& costs, const TimedTree& timed, std::ostream& out) {
  const CostModel& m = costs.ticked.model;
  const Tree& tree = timed.tree;
  if (options.json) {
    Json json = {{"tree", options.tree}, {"ranks", tree.size()}, {"root", tree.root()}};
    json["s"] = to_json(costs.time(m.send));
    json["r"] = to_json(costs.time(m.receive()));
    if (costs.is_time) json["unit"] = "ns";
    return print_json(std::move(json), timed, out);
  }
  const auto human = [&](std::uint64_t ticks) { return to_human(costs.time(ticks), costs.is_time); };
  print_text(options.tree + ", " + std::to_string(tree.size()) + " ranks, root " + std::to_string(tree.root()) +
                 ", s = " + human(m.send) + ", r = " + human(m.receive()),
             timed, costs.is_time, "", out);
}

// On different nodes.
void print(const PlanTreeOptions& options, const TimedTree& timed, std::ostream& out) {
  const Tree& tree = timed.tree;
  if (options.json) {
    Json json = {{"tree", options.tree}, {"ranks", tree.size()}, {"root", tree.root()}};
    json["bytes"] = options.nodes.bytes;
    json["unit"] = "us";
    return print_json(std::move(json), timed, out);
  }
  print_text(options.tree + ", " + std::to_string(tree.size()) + " different nodes, root " +
                 std::to_string(tree.root()) + ", " + std::to_string(options.nodes.bytes) + " bytes",
             timed, false, " us", out);
}

// A sentence if something is wrong with --ranks or --root, for a tree that knows its ranks itself.
std::string contradiction(const PlanTreeOptions& options, std::size_t ranks) {
  if (options.ranks != 0 && options.ranks != ranks)
    return "--ranks is " + std::to_string(options.ranks) + ", but there are " + std::to_string(ranks) + " nodes";
  if (options.root.value_or(0) >= ranks) return "--root must be a rank, 0 to " + std::to_string(ranks - 1);
  return {};
}

std::string answer_for_nodes(const PlanTreeOptions& options, std::ostream& out) {
  std::string error;
  if (!options.costs.empty()) return "give either costs for all nodes or --nodes with each one's";
  const auto cluster = read_nodes(options.nodes, error);
  if (!cluster) return error;
  error = contradiction(options, cluster->nodes.size());
  if (!error.empty()) return error;
  const TickedWorkstations machine = workstations_in_ticks(*cluster, options.nodes.bytes);
  auto tree = read_or_choose_tree(options.tree, machine.costs, options.root, error);
  if (!tree) return error;
  print(options, timed(std::move(*tree), machine), out);
  return {};
}

std::string answer_for_file(const PlanTreeOptions& options, std::ostream& out) {
  std::string error;
  const auto costs = parse_costs(options.costs, Ports::kShared, error);
  if (!costs) return error;
  auto tree = read_tree_file(options.tree, error);
  if (!tree) return error;
  error = contradiction(options, tree->size());
  if (error.empty() && options.root.value_or(tree->root()) != tree->root())
    error = "the root of this tree is " + std::to_string(tree->root());
  if (error.empty()) print(options, *costs, timed(std::move(*tree), *costs), out);
  return error;
}

// Costs, and for `lambda` the construction with its alpha.
std::optional<TreeParameters> parameters_of(const PlanTreeOptions& options, const CostModel& m, std::string& error) {
  TreeParameters parameters{m.send, m.receive()};
  const std::string by_default = options.alpha.empty() ? "queue" : "alpha";
  const auto construction = construction_by_name(options.construction.empty() ? by_default : options.construction);
  if (!construction) {
    error = "there is no construction \"" + options.construction + "\"; allowed are queue, bottomup, alpha, descent";
    return {};
  }
  parameters.construction = *construction;
  if (options.alpha.empty()) return parameters;
  const auto alpha = parse_quantity(options.alpha);
  if (options.tree != "lambda" || *construction != LambdaConstruction::kAlpha) {
    error = "--alpha belongs to --tree lambda --construction alpha";
  } else if (!alpha || alpha->is_time) {
    error = "--alpha " + options.alpha + " is no fraction: write 3/5 or 0.6";
  } else if (is_alpha_valid(alpha->value, error)) {
    parameters.alpha = alpha->value;
    return parameters;
  }
  return {};
}

// A sentence if something is wrong.
std::string answer_tree(const PlanTreeOptions& options, std::ostream& out) {
  std::string error;
  if (!options.nodes.empty()) return answer_for_nodes(options, out);
  if (is_tree_file(options.tree)) return answer_for_file(options, out);
  const Rank root = options.root.value_or(0);
  if (options.tree.starts_with("heterogeneous"))
    return "the tree \"heterogeneous\" needs --nodes with each node's costs";
  if (options.ranks < 1 || options.ranks > kMostTreeRanks)
    return "--ranks must be 1 to " + std::to_string(kMostTreeRanks) + " for a whole tree";
  if (root >= options.ranks) return "--root must be a rank, 0 to " + std::to_string(options.ranks - 1);
  if (options.costs.empty() && (options.tree == "fibo" || options.tree == "lambda"))
    return "the tree \"" + options.tree + "\" needs costs: --s with --r (or --l and --o), or --lambda";
  const auto costs = parse_costs(options.costs, Ports::kShared, error);
  if (!costs) return error;
  const CostModel& m = costs->ticked.model;
  const auto parameters = parameters_of(options, m, error);
  if (!parameters) return error;
  const auto choice = choose_tree(options.tree, *parameters, error);
  if (!choice) return error;
  print(options, *costs, timed(choice->build(options.ranks).rotated(root), *costs), out);
  return {};
}

}  // namespace

int plan_tree(const PlanTreeOptions& options, std::ostream& out, std::ostream& err) {
  return answer_or_explain(options.json, out, err, [&](std::string& error) {
    error = answer_tree(options, out);
    return error.empty() ? 0 : 2;
  });
}

}  // namespace fibocast
