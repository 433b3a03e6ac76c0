#include "firmware_sim/experiment.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "collectives/algorithm_catalog.h"
#include "collectives/given_tree.h"
#include "collectives/models/mesh.h"
#include "collectives/models/workstation_trees.h"
#include "collectives/models/workstations.h"
#include "firmware_sim/full_nodes.h"
#include "firmware_sim/networks/mesh_network.h"
#include "firmware_sim/random.h"

namespace fibocast {
namespace {

OperationShape shape_of(const ExperimentRequest& request) {
  OperationShape shape{.operation = request.operation, .ranks = request.ranks, .total_bytes = request.bytes};
  shape.segment_bytes = request.segment_bytes;
  if (combines(shape.operation) || shape.operation == Operation::kConquer)
    shape.type = ElementType::kInt64, shape.op = CombineOperator::kSum;
  return shape;
}

bool goes_along_any_tree(Operation op) {
  return op == Operation::kBarrier || op == Operation::kMulticast || combines(op);
}

// No cost of one message may pass what the machine's costs may not.
bool bytes_fit(const Machine& machine, const MachineDescription& d, std::uint64_t bytes) {
  const Rational most_per_byte = std::max({d.hold_per_byte, d.latency_per_byte, Rational(0)});
  Ticks most = (most_per_byte / machine.tick).numerator();
  for (const PortCosts& costs : machine.kinds) most = std::max({most, costs.send_per_byte, costs.occupancy_per_byte});
  return most == 0 || bytes <= kMostCostTicks / most;
}

// What all ranks send is counted. No block, and no vector, crosses a link more often.
bool bytes_can_be_counted(const ExperimentRequest& request) {
  constexpr double kMost = 0x1p64, kLevels = 64;
  const double ranks = request.ranks;
  const double times = has_block_of_each_rank(request.operation) ? 2 * ranks * ranks : kLevels * ranks;
  return static_cast<double>(request.bytes) * times < kMost;
}

// A fat tree has the routers of a flooding; elsewhere they are nodes like any other.
Rank nodes_needed(const ExperimentRequest& request) {
  const bool has_routers = request.operation == Operation::kAllgather && request.algorithm == "flooding" &&
                           request.machine.network != NetworkKind::kFatTree;
  return has_routers && request.ranks > 0 ? 2 * request.ranks - 1 : request.ranks;
}

// Fisher and Yates.
std::vector<NodeId> shuffled(std::uint64_t nodes, std::uint64_t seed) {
  std::vector<NodeId> order(nodes);
  std::iota(order.begin(), order.end(), 0);
  Random random(seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace

std::string_view placement_name(Placement placement) {
  constexpr std::array<std::string_view, 4> kNames = {"row-major", "random", "reflecting", "growing"};
  return kNames[static_cast<std::size_t>(placement)];
}

std::optional<Experiment> Experiment::prepare(const ExperimentRequest& request, std::string& error) {
  Experiment experiment(request);
  auto machine = build_machine(request.machine, nodes_needed(request), error);
  if (machine) error = objection_to_costs(machine->kinds, *machine->network);
  if (!machine || !error.empty()) {
    error = request.machine.name + ": " + error;
    return {};
  }
  experiment.machine_ = *std::move(machine);
  if (request.root >= request.ranks) {
    error = "the root must be a rank, 0 to " + std::to_string(request.ranks - 1);
    return {};
  }
  if (!bytes_fit(experiment.machine_, request.machine, request.bytes)) {
    error = "so many bytes take longer than can be counted in the ticks of this machine";
    return {};
  }
  try {
    if (!experiment.place(error) || !experiment.plan(error)) return {};
  } catch (const std::overflow_error&) {
    error = "the times on this machine have too many digits";
    return {};
  }
  if (!bytes_can_be_counted(request)) {
    error = "all together would send more bytes than can be counted";
    return {};
  }
  experiment.set_nodes();
  return experiment;
}

bool Experiment::place(std::string& error) {
  const Placement placement = request_.placement;
  if (placement == Placement::kRandom) placed_ = shuffled(machine_.network->places(), request_.seed);
  if (placement != Placement::kReflecting && placement != Placement::kGrowing) return true;
  const auto* mesh = dynamic_cast<const MeshNetwork*>(machine_.network.get());
  const auto order = static_cast<unsigned>(std::bit_width(request_.ranks - 1));
  const MeshSize size = mesh_size(order);
  if (mesh == nullptr || mesh->columns() < size.width || mesh->nodes() / mesh->columns() < size.height) {
    error = "this placement is for a mesh of at least " + std::to_string(size.height) + " rows and " +
            std::to_string(size.width) + " columns";
    return false;
  }
  const MeshMapping mapping = placement == Placement::kGrowing ? MeshMapping::kGrowing : MeshMapping::kReflecting;
  for (Rank v = 0; v < request_.ranks; ++v) {
    const MeshPoint at = mesh_point(mapping, order, (Rank{1} << order) - 1 - v);
    placed_.push_back(at.y * mesh->columns() + at.x);
  }
  return true;
}

// Trees are those that are best for messages of this size.
bool Experiment::plan(std::string& error) {
  const OperationShape shape = shape_of(request_);
  if (shape.operation == Operation::kBarrier && shape.total_bytes > 0) {
    error = "a barrier carries no bytes: leave --bytes out";
    return false;
  }
  const std::uint64_t each = shape.segments() > 1 ? shape.segment_bytes : shape.total_bytes;
  const CostModel costs = planning_costs(request_.machine, machine_, each);
  plan_ = fibo_plan(costs);
  if (!is_valid(plan_)) {
    error = "the costs are too large or have too many digits to plan with";
    return false;
  }
  return request_.tree.empty() ? take_algorithm(shape, error) : take_tree(shape, error);
}

bool Experiment::take_algorithm(OperationShape shape, std::string& error) {
  const auto choice =
      choose_algorithm(shape.operation, request_.algorithm.empty() ? "planned" : request_.algorithm, error);
  if (!choice) return false;
  shape.choice = *choice;
  if (choice->algorithm == Algorithm::kPlanned)
    shape.choice = planned_choice(plan_, shape.operation, shape.total_bytes);
  way_ = algorithm_name(shape.operation, shape.choice);
  if (shape.choice.algorithm == Algorithm::kFlooding) {
    shape.ranks = 2 * shape.ranks - 1;
    if (request_.root != 0 || request_.placement != Placement::kRowMajor)
      error = "the ranks of a flooding have their places";
    if (request_.machine.network == NetworkKind::kFatTree && machine_.network->places() != request_.ranks)
      error = "a flooding on a fat tree takes all its leaves: " + std::to_string(machine_.network->places()) + " ranks";
  }
  if (error.empty()) error = objection(shape);
  workload_ = workload_of(plan_, shape);
  return error.empty();
}

bool Experiment::take_tree(OperationShape shape, std::string& error) {
  way_ = request_.tree;
  if (request_.given) return take_table(shape, error);
  std::string unknown;
  auto choice = choose_algorithm(shape.operation, request_.tree, unknown);
  if (request_.tree == "lambda") choice = {Algorithm::kTrees, TreeKind::kLambda};
  const bool is_known_tree = choice && choice->algorithm == Algorithm::kTrees && is_known(shape.operation, *choice);
  const bool own_binomial = request_.machine.network == NetworkKind::kWorkstations && request_.tree == "binomial";
  if (is_known_tree && !(own_binomial && goes_along_any_tree(shape.operation))) {
    shape.choice = *choice;
    error = objection(shape);
    workload_ = workload_of(plan_, shape);
    return error.empty();
  }
  return take_table(shape, error);
}

// A tree that is no formula.
bool Experiment::take_table(OperationShape shape, std::string& error) {
  if (!goes_along_any_tree(shape.operation)) {
    error = "the tree \"" + request_.tree + "\" is for barrier, multicast, reduce and allreduce";
    return false;
  }
  shape.choice = {Algorithm::kTrees};
  error = objection(shape);
  if (!error.empty()) return false;
  if (!request_.given && !is_workstation_tree(request_.tree)) {
    error = "there is no tree \"" + request_.tree + "\"; allowed are fibo, lambda, " + workstation_tree_names();
    return false;
  }
  const auto tree =
      request_.given ? request_.given : choose_workstation_tree(request_.tree, message_costs(), request_.root, error);
  if (!tree) return false;
  if (tree->size() != request_.ranks) {
    error = "the tree \"" + request_.tree + "\" has " + std::to_string(tree->size()) + " ranks, and the operation " +
            std::to_string(request_.ranks);
    return false;
  }
  if (request_.ranks > kMostTableRanks) {
    error = "a tree that is no formula is for at most " + std::to_string(kMostTableRanks) + " ranks";
    return false;
  }
  table_ = table_of(*tree);
  plan_.given = TreeTable(table_);
  plan_.reduction.kind = plan_.distribution.kind = TreeKind::kGiven;
  workload_ = workload_of(plan_, shape);
  return true;
}

Rank Experiment::real_rank(Rank virtual_rank) const {
  return static_cast<Rank>((std::uint64_t{virtual_rank} + request_.root) % shape().ranks);
}

std::uint32_t Experiment::kind_at(NodeId node) const {
  const std::vector<std::uint32_t>& kinds = request_.machine.kind_of_node;
  return node < kinds.size() ? kinds[node] : 0;
}

void Experiment::set_nodes() {
  nodes_ = {.kinds = machine_.kinds, .kind_of = {}, .ports = request_.machine.ports};
  for (Rank v = 0; v < shape().ranks; ++v) {
    node_of_.push_back(place_of(real_rank(v)));
    if (machine_.kinds.size() > 1) nodes_.kind_of.push_back(kind_at(node_of_.back()));
  }
}

// Of one message, by real rank.
HeterogeneousCosts Experiment::message_costs() const {
  HeterogeneousCosts costs{.nodes = {}, .link = machine_.network->usual_transit(request_.bytes)};
  for (Rank rank = 0; rank < request_.ranks; ++rank) {
    const PortCosts& kind = machine_.kinds[kind_at(place_of(rank))];
    costs.nodes.push_back(
        {kind.send + request_.bytes * kind.send_per_byte, kind.occupancy + request_.bytes * kind.occupancy_per_byte});
  }
  check_times_fit(costs);
  return costs;
}

std::optional<Rational> Experiment::gather_by_equation_12() const {
  const AlgorithmChoice direct{Algorithm::kTrees, TreeKind::kSequential};
  const bool applies = request_.operation == Operation::kGather && shape().choice == direct &&
                       request_.machine.network == NetworkKind::kWorkstations;
  if (!applies) return {};
  return time(gather_times(message_costs(), request_.root, GatherModel::kLiteral).completion());
}

std::optional<SimulationRun> Experiment::run(SimulationOptions options, std::string& error) {
  options.node_of = node_of_;
  return simulate_machine(workload_, nodes_, *machine_.network, options, error);
}

std::optional<SimulationRun> Experiment::run_full_nodes(std::string& error) {
  return simulate_full_nodes({plan_, shape(), nodes_, node_of_, request_.root}, *machine_.network, error);
}

std::optional<TroubledRun> Experiment::run_troubled_nodes(const std::vector<Fault>& faults, std::string& error) {
  return simulate_troubled_nodes({plan_, shape(), nodes_, node_of_, request_.root}, machine_.tick,
                                 {faults, request_.seed}, *machine_.network, error);
}

}  // namespace fibocast
