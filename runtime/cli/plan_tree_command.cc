// fibocast plan tree: one tree with its times, drawn or as JSON.
#include <ostream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "collectives/tree_catalog.h"
#include "runtime/cli/plan_command.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

constexpr Rank kMostRanks = 10'000'000;  // a whole tree is kept in memory
constexpr Rank kMostDrawn = 100;

struct TimedTree {
  Tree tree;
  std::vector<std::uint64_t> activation;
  std::uint64_t completion;
  std::uint64_t reduction_completion;
};

TimedTree timed(Tree tree, const CostModel& m) {
  std::vector<std::uint64_t> activation = activation_times(tree, m.send, m.receive());
  const std::uint64_t down = completion(tree, m.send, m.receive());
  const std::uint64_t up = reduction_completion(tree, m.send, m.occupancy, m.latency);
  return {std::move(tree), std::move(activation), down, up};
}

void print_json(const PlanTreeOptions& options, const Costs& costs, const TimedTree& timed, std::ostream& out) {
  const CostModel& m = costs.ticked.model;
  Json json = {{"tree", options.tree}, {"ranks", options.ranks}, {"root", options.root}};
  json["s"] = to_json(costs.time(m.send));
  json["r"] = to_json(costs.time(m.receive()));
  if (costs.is_time) json["unit"] = "ns";
  json["completion"] = to_json(costs.time(timed.completion));
  json["reduction_completion"] = to_json(costs.time(timed.reduction_completion));
  Json parent = Json::array();
  Json children = Json::array();
  Json activation = Json::array();
  for (Rank v = 0; v < timed.tree.size(); ++v) {
    parent.push_back(v == timed.tree.root() ? Json(-1) : Json(timed.tree.parent(v)));
    children.push_back(timed.tree.children(v));
    activation.push_back(to_json(costs.time(timed.activation[v])));
  }
  json["parent"] = std::move(parent);
  json["children"] = std::move(children);
  json["activation"] = std::move(activation);
  out << json.dump() << '\n';
}

void draw(const TimedTree& timed, const Costs& costs, Rank v, const std::string& indent, std::ostream& out) {
  out << v << "  at " << to_human(costs.time(timed.activation[v]), costs.is_time) << '\n';
  const auto children = timed.tree.children(v);
  for (std::size_t i = 0; i < children.size(); ++i) {
    const bool last = i + 1 == children.size();
    out << indent << (last ? "`- " : "|- ");
    draw(timed, costs, children[i], indent + (last ? "   " : "|  "), out);
  }
}

void print_text(const PlanTreeOptions& options, const Costs& costs, const TimedTree& timed, std::ostream& out) {
  const auto human = [&](std::uint64_t ticks) { return to_human(costs.time(ticks), costs.is_time); };
  const CostModel& m = costs.ticked.model;
  out << options.tree << ", " << options.ranks << " ranks, root " << options.root << ", s = " << human(m.send)
      << ", r = " << human(m.receive()) << "\n\n";
  if (options.ranks <= kMostDrawn) {
    draw(timed, costs, timed.tree.root(), "", out);
  } else {
    out << "(drawn up to " << kMostDrawn << " ranks; --json has them all)\n";
  }
  out << "\ndistribution: " << human(timed.completion)
      << "\nreduction up the same tree: " << human(timed.reduction_completion) << '\n';
}

// A sentence if something is wrong.
std::string answer(const PlanTreeOptions& options, std::ostream& out) {
  std::string error;
  if (options.ranks < 1 || options.ranks > kMostRanks)
    return "--ranks must be 1 to " + std::to_string(kMostRanks) + " for a whole tree";
  if (options.root >= options.ranks) return "--root must be a rank, 0 to " + std::to_string(options.ranks - 1);
  if (options.costs.empty() && (options.tree == "fibo" || options.tree == "lambda"))
    return "the tree \"" + options.tree + "\" needs costs: --s with --r (or --l and --o), or --lambda";
  const auto costs = parse_costs(options.costs, Ports::kShared, error);
  if (!costs) return error;
  const CostModel& m = costs->ticked.model;
  const auto construction =
      options.construction == "descent" ? LambdaConstruction::kDescent : LambdaConstruction::kQueue;
  const auto choice = choose_tree(options.tree, {m.send, m.receive(), construction}, error);
  if (!choice) return error;
  const TimedTree tree = timed(choice->build(options.ranks).rotated(options.root), m);
  options.json ? print_json(options, *costs, tree, out) : print_text(options, *costs, tree, out);
  return {};
}

}  // namespace

int plan_tree(const PlanTreeOptions& options, std::ostream& out, std::ostream& err) {
  std::string error;
  try {
    error = answer(options, out);
  } catch (const std::overflow_error&) {
    error = "the times do not fit in 64 bit";
  }
  if (error.empty()) return 0;
  err << "fibocast: " << error << '\n';
  return 2;
}

}  // namespace fibocast
