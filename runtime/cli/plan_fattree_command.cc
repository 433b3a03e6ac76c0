// fibocast plan fattree: collective operations on a binary fat tree (Dimakopoulos and Dimopoulos).
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>
#include <vector>

#include "collectives/models/fat_tree_exchange.h"
#include "collectives/models/fat_tree_flood.h"
#include "collectives/models/fat_tree_scatter.h"
#include "runtime/cli/plan_answer.h"
#include "runtime/cli/plan_command.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostListed = 65536;      // leaves, when n packets are listed one by one
constexpr std::uint64_t kMostListedSquare = 256;  // when they are n^2
constexpr std::size_t kMostPrinted = 64;          // rows on a terminal

Json bounds_json(const FatTreeBounds& b) {
  return {{"broadcast", b.broadcast},
          {"scatter", b.scatter},
          {"gather", b.scatter},
          {"allgather", b.multinode_broadcast},
          {"alltoall", b.total_exchange}};
}

bool is_exponential(const FatTree& tree) {
  for (unsigned h = 0; h < tree.levels(); ++h)
    if (tree.capacity[h] != std::uint64_t{1} << h) return false;
  return true;
}

// Of the algorithms. Scatter, gather and allgather reach their bounds.
Json times_json(const FatTree& tree) {
  Json json = bounds_json(fat_tree_bounds(tree));
  json["alltoall"] = pipelined_exchange(tree);
  json["alltoall_serial"] = serial_exchange(tree);
  return json;
}

Json phases_json(const FatTree& tree) {
  Json phases = Json::array();
  for (const ExchangePhase& p : exchange_phases(tree))
    phases.push_back({{"level", p.level}, {"first", p.first}, {"dispatches", p.dispatches}, {"steps", p.steps}});
  return phases;
}

struct ScheduleTable {
  std::vector<std::string> columns;
  Json rows = Json::array();
  std::uint64_t steps = 0;
  bool conflict_free = true;
};

ScheduleTable judged(const FatTree& tree, const std::vector<FatTreeDispatch>& dispatches) {
  const FatTreeTraffic traffic = simulate(tree, dispatches);
  ScheduleTable schedule{.columns = {"step", "source", "destination"}, .steps = traffic.completion};
  schedule.conflict_free = !traffic.conflict;
  for (const FatTreeDispatch& d : dispatches) schedule.rows.push_back({d.step, d.source, d.destination});
  return schedule;
}

ScheduleTable of_hops(std::vector<FloodHop> hops) {
  std::sort(hops.begin(), hops.end());
  ScheduleTable schedule{.columns = {"step", "from", "to", "packet"}};
  for (const FloodHop& hop : hops) schedule.rows.push_back({hop.step, hop.from, hop.to, hop.source});
  if (!hops.empty()) schedule.steps = hops.back().step;
  return schedule;
}

// One packet, forwarded to all other branches in the step after its arrival (E3).
void spread(Rank n, Rank node, Rank came_from, Rank source, std::uint64_t step, std::vector<FloodHop>& hops) {
  const TreeNeighbours around = neighbours(n, node);
  for (const Rank to : {around.parent, around.left, around.right}) {
    if (to == kNoRank || to == came_from) continue;
    hops.push_back({step, node, to, source});
    spread(n, to, node, source, step + 1, hops);
  }
}

ScheduleTable broadcast_schedule(Rank n, Rank root) {
  std::vector<FloodHop> hops;
  spread(n, root, kNoRank, root, 1, hops);
  return of_hops(std::move(hops));
}

std::vector<FatTreeDispatch> exchange_by(const FatTree& tree, const std::string& algorithm, std::string& error) {
  const auto n = static_cast<Rank>(tree.leaves);
  if (algorithm == "pairs" && n >= 4) return pair_scatter_schedule(n);
  if (algorithm == "xor" && is_exponential(tree)) return exchange_schedule_of_kind(ExchangeKind::kExponentialXor, n);
  if (algorithm == "pipelined" || algorithm == "serial") {
    auto schedule = exchange_schedule(tree, algorithm == "pipelined", error);
    return schedule ? std::move(*schedule) : std::vector<FatTreeDispatch>{};
  }
  if (algorithm == "pairs")
    error = "the algorithm pairs needs at least 4 leaves";
  else if (algorithm == "xor")
    error = "the algorithm xor needs exponential capacities";
  else
    error = "--algorithm must be pipelined, serial, pairs or xor, not \"" + algorithm + "\"";
  return {};
}

ScheduleTable schedule_of(const PlanFattreeOptions& options, const FatTree& tree, std::string& error) {
  const auto n = static_cast<Rank>(tree.leaves);
  const Rank root = options.root;
  if (options.operation == "broadcast") return broadcast_schedule(n, root);
  if (options.operation == "allgather") return of_hops(simulate_flooding(tree).hops);
  if (options.operation == "scatter") return judged(tree, scatter_schedule(n, root, ScatterOrder::kFarthestFirst));
  if (options.operation == "gather") return judged(tree, gather_schedule(n, root));
  return judged(tree, exchange_by(tree, options.algorithm, error));
}

// A sentence if something is wrong.
std::string mistake(const PlanFattreeOptions& options) {
  const std::vector<std::string> known = {"", "broadcast", "scatter", "gather", "allgather", "alltoall"};
  if (std::find(known.begin(), known.end(), options.operation) == known.end())
    return "--operation must be broadcast, scatter, gather, allgather or alltoall, not \"" + options.operation + "\"";
  if (options.root >= options.leaves)
    return "--root must be a leaf, 0 to " + std::to_string(options.leaves == 0 ? 0 : options.leaves - 1);
  return {};
}

void add_lower_bounds(Json& json, const FatTree& tree) {
  if (tree.leaves < 4 || !is_exponential(tree)) return;
  const ExchangeLowerBounds b = exchange_lower_bounds(tree.leaves);
  json["alltoall_lower_bounds"] = {{"lemma3", b.lemma3}, {"holes", b.holes}, {"sound", b.sound}};
}

void add_schedule(Json& json, const PlanFattreeOptions& options, const FatTree& tree, std::string& error) {
  const bool square = options.operation == "alltoall" || options.operation == "allgather";
  const std::uint64_t most = square ? kMostListedSquare : kMostListed;
  json["operation"] = options.operation;
  if (options.operation == "alltoall") json["algorithm"] = options.algorithm;
  if (tree.leaves > most) {
    json["schedule_omitted"] = "listed for up to " + std::to_string(most) + " leaves";
    return;
  }
  ScheduleTable schedule = schedule_of(options, tree, error);
  json["steps"] = schedule.steps;
  json["conflict_free"] = schedule.conflict_free;
  json["columns"] = schedule.columns;
  json["schedule"] = std::move(schedule.rows);
}

Json fattree_json(const PlanFattreeOptions& options, const FatTree& tree, std::string& error) {
  Json json = {{"leaves", tree.leaves}, {"levels", tree.levels()}, {"capacities", tree.capacity}};
  json["root"] = options.root;
  json["bounds"] = bounds_json(fat_tree_bounds(tree));
  json["times"] = times_json(tree);
  json["alltoall_phases"] = phases_json(tree);
  // Other ratios: the times are then a target, without a schedule that reaches them (E14).
  json["alltoall_has_schedule"] = has_exchange_schedule(tree);
  add_lower_bounds(json, tree);
  if (options.operation == "alltoall" && !has_exchange_schedule(tree)) exchange_schedule(tree, true, error);
  if (error.empty() && !options.operation.empty()) add_schedule(json, options, tree, error);
  return json;
}

void print_schedule(const Json& json, std::ostream& out) {
  out << '\n'
      << json["operation"].get<std::string>() << ": " << json["steps"] << " steps, "
      << (json["conflict_free"].get<bool>() ? "no link is needed twice in a step\n\n" : "LINKS ARE NEEDED TWICE\n\n");
  for (const Json& column : json["columns"]) out << std::setw(12) << column.get<std::string>();
  out << '\n';
  for (std::size_t i = 0; i < json["schedule"].size() && i < kMostPrinted; ++i) {
    for (const Json& cell : json["schedule"][i]) out << std::setw(12) << cell.dump();
    out << '\n';
  }
  if (json["schedule"].size() > kMostPrinted) out << "(the first " << kMostPrinted << "; --json has them all)\n";
}

int column_width(const Json& values, std::size_t least) {
  for (const Json& value : values) least = std::max(least, value.dump().size() + 2);
  return static_cast<int>(least);
}

void print_text(const Json& json, std::ostream& out) {
  out << "fat tree of " << json["leaves"] << " leaves, links per branch from the leaves up " << json["capacities"]
      << "\n\n";
  const int bounds = column_width(json["bounds"], 11), times = column_width(json["times"], 8);
  out << std::setw(12 + bounds) << "lower bound" << std::setw(times) << "steps" << '\n';
  for (const auto& [operation, bound] : json["bounds"].items())
    out << std::left << std::setw(12) << operation << std::right << std::setw(bounds) << bound.dump()
        << std::setw(times) << json["times"][operation].dump() << '\n';
  if (json.contains("alltoall_lower_bounds"))
    out << "a total exchange takes at least " << json["alltoall_lower_bounds"]["sound"] << " steps\n";
  if (!json["alltoall_has_schedule"].get<bool>())
    out << "alltoall: a target; a schedule exists only if each capacity is once or twice the one below\n";
  if (json.contains("schedule_omitted")) out << "\nschedule: " << json["schedule_omitted"].get<std::string>() << '\n';
  if (json.contains("schedule")) print_schedule(json, out);
}

}  // namespace

int plan_fattree(const PlanFattreeOptions& options, std::ostream& out, std::ostream& err) {
  std::string error;
  Json json;
  const auto tree = make_fat_tree(options.leaves, options.capacities, error);
  if (tree) error = mistake(options);
  if (error.empty()) json = fattree_json(options, *tree, error);
  if (!error.empty()) return explain(options.json, error, out, err);
  if (options.json) out << json.dump() << '\n';
  if (!options.json) print_text(json, out);
  return 0;
}

void add_plan_fattree_command(CLI::App& plan, int& exit_code) {
  const auto options = std::make_shared<PlanFattreeOptions>();
  CLI::App* app = plan.add_subcommand("fattree", "Operations on a binary fat tree: lower bounds, steps, schedules");
  app->add_option("--leaves", options->leaves, "a power of two")->required();
  app->add_option("--capacities", options->capacities, "constant, exponential, or a list from the leaves up: 1,1,2")
      ->capture_default_str();
  app->add_option("--operation", options->operation,
                  "broadcast, scatter, gather, allgather or alltoall: its schedule too");
  app->add_option("--algorithm", options->algorithm, "of alltoall: pipelined, serial, pairs or xor")
      ->capture_default_str();
  app->add_option("--root", options->root, "the leaf that sends or collects")->capture_default_str();
  app->add_flag("--json", options->json, "one JSON document on stdout, nothing else there");
  app->add_flag("--quiet", options->quiet, "no progress and no remarks: there are none");
  app->footer("Example: fibocast plan fattree --leaves 8 --capacities exponential --operation alltoall");
  app->callback([options, &exit_code] { exit_code = plan_fattree(*options, std::cout, std::cerr); });
}

}  // namespace fibocast
