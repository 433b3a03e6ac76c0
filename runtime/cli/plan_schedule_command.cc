// fibocast plan schedule: the stages of one rank or of all, their predicted time, and the proof that they are right.
#include <ostream>
#include <utility>

#include "collectives/algorithm_catalog.h"
#include "collectives/element_names.h"
#include "collectives/predict.h"
#include "collectives/tree_catalog.h"
#include "runtime/cli/plan_answer.h"
#include "runtime/cli/plan_command.h"
#include "runtime/cli/plan_schedule_answer.h"

namespace fibocast {
namespace {

constexpr Rank kMostRanksOfAll = 200'000;  // all ranks' schedules are kept in memory
constexpr std::uint64_t kMostTransfersOfAll = std::uint64_t{1} << 25;
constexpr std::uint64_t kMostBlocksOfAll = std::uint64_t{1} << 25;  // a proof follows each block at each rank

// What the options mean.
struct Request {
  Costs costs;
  Plan plan;
  OperationShape shape;
};

bool read_operation(const PlanScheduleOptions& options, OperationShape& shape, std::string& error) {
  const auto operation = operation_by_name(options.operation);
  if (operation) {
    shape.operation = *operation;
    return true;
  }
  error = "there is no operation \"" + options.operation + "\"; there are ";
  for (std::size_t i = 1; i <= kOperations; ++i)
    error += (i > 1 ? ", " : "") + std::string(operation_name(static_cast<Operation>(i)));
  return false;
}

// Whether elements are combined.
bool has_operator(Operation operation) { return combines(operation) || operation == Operation::kConquer; }

// Only reductions, divide and conquer look into the data. Unless told otherwise they add up whole numbers; a divide
// shares out bytes.
bool read_elements(const PlanScheduleOptions& options, OperationShape& shape, std::string& error) {
  const bool reads_type = has_operator(shape.operation) || shape.operation == Operation::kDivide;
  if ((!reads_type && !options.type.empty()) || (!has_operator(shape.operation) && !options.combine_operator.empty())) {
    error = "--type and --operator are for reduce, allreduce and conquer, --type for divide";
    return false;
  }
  if (!reads_type || (!has_operator(shape.operation) && options.type.empty())) return true;
  const auto type = element_type_by_name(options.type.empty() ? "int64" : options.type, error);
  if (!type) return false;
  shape.type = *type;
  if (!has_operator(shape.operation)) return true;
  const auto op = combine_operator_by_name(options.combine_operator.empty() ? "sum" : options.combine_operator, error);
  if (!op) return false;
  shape.op = *op;
  return true;
}

// A tree that is no algorithm of its own: `lambda` is the plan's pair of trees under its other name, the rest are those
// that no daemon runs.
bool read_other_tree(const PlanScheduleOptions& options, Request& request, std::string& error) {
  std::string no_tree;
  const CostModel& m = request.costs.ticked.model;
  const auto tree = choose_tree(options.algorithm, {m.send, m.receive(), LambdaConstruction::kDescent}, no_tree);
  if (!tree || !is_known(request.shape.operation, {Algorithm::kTrees})) return false;
  if (tree->spec && tree->spec->kind != TreeKind::kLambda) return false;
  request.shape.choice = {Algorithm::kTrees};
  if (tree->spec) return true;
  error = "a daemon cannot run the tree \"" + options.algorithm + "\"; take binomial";
  return false;
}

bool needs_costs(const AlgorithmChoice& choice) {
  switch (choice.algorithm) {
    case Algorithm::kTrees:
    case Algorithm::kScatterAllgather:
    case Algorithm::kScatterDoubling:
    case Algorithm::kScatterPairwise: return choice.tree == TreeKind{};
    case Algorithm::kDelayReceive:
    case Algorithm::kDelaySend:
    case Algorithm::kCombineEager: return true;
    default: return false;
  }
}

bool read_algorithm(const PlanScheduleOptions& options, Request& request, std::string& error) {
  OperationShape& shape = request.shape;
  const auto choice = choose_algorithm(shape.operation, options.algorithm, error);
  if (choice) shape.choice = *choice;
  if (!choice && !read_other_tree(options, request, error)) return false;
  error.clear();
  if (shape.choice.algorithm == Algorithm::kPlanned)
    shape.choice = planned_choice(request.plan, shape.operation, shape.total_bytes);
  if (!options.costs.empty() || !needs_costs(shape.choice)) return true;
  error = "the algorithm \"" + algorithm_name(shape.operation, shape.choice) +
          "\" needs costs: --s with --r (or --l and --o), or --lambda";
  return false;
}

// The routers of a flooding are ranks too.
bool count_ranks(const PlanScheduleOptions& options, OperationShape& shape, std::string& error) {
  const bool has_routers = shape.choice.algorithm == Algorithm::kFlooding;
  const std::uint64_t most = has_routers ? kNoRank / 2 : kNoRank - 1;
  if (options.ranks < 1 || options.ranks > most) {
    error = "--ranks must be 1 to " + std::to_string(most);
    return false;
  }
  shape.ranks = has_routers ? 2 * options.ranks - 1 : options.ranks;
  return true;
}

std::optional<Request> understand(const PlanScheduleOptions& options, std::string& error) {
  Request request{.costs = {}, .plan = {}, .shape = {.total_bytes = options.bytes}};
  request.shape.segment_bytes = options.segment_bytes;
  if (!read_operation(options, request.shape, error) || !read_elements(options, request.shape, error)) return {};
  const auto costs =
      parse_costs(options.costs, options.ports == "shared" ? Ports::kShared : Ports::kIndependent, error);
  if (!costs) return {};
  request.costs = *costs;
  request.plan = fibo_plan(costs->ticked.model);
  if (!read_algorithm(options, request, error) || !count_ranks(options, request.shape, error)) return {};
  error = objection(request.shape);
  if (!error.empty()) return {};
  return request;
}

std::string check_ranks(const PlanScheduleOptions& options, const OperationShape& shape) {
  if (options.rank && *options.rank >= shape.ranks)
    return "--rank must be a rank, 0 to " + std::to_string(shape.ranks - 1);
  if (shape.ranks > kMostRanksOfAll && options.check)
    return "--check needs the schedules of all ranks: at most " + std::to_string(kMostRanksOfAll);
  if (options.check && shape.operation != Operation::kBarrier && block_count(shape) > kMostBlocksOfAll / shape.ranks)
    return "--check follows each block at each rank: too much for " + std::to_string(shape.ranks) + " ranks";
  if (shape.ranks > kMostRanksOfAll && !options.rank)
    return "the schedules of more than " + std::to_string(kMostRanksOfAll) +
           " ranks are shown one at a time: give --rank";
  if (options.segment_bytes > 0 && options.bytes / options.segment_bytes >= UINT32_MAX)
    return "--segment is too small: more than 4294967295 segments";
  return {};
}

// Where each talks with each, all schedules together are as long as the square of the ranks. (Where a root talks with
// all, the last rank does not.)
bool can_keep_all(const Request& request) {
  const Rank ranks = request.shape.ranks;
  if (ranks > kMostRanksOfAll) return false;
  const auto last = build_rank_part(request.plan, request.shape, ranks - 1);
  return !last || last->transfers.size() <= kMostTransfersOfAll / ranks;  // what does not fit is told below
}

// Only what is the rank's own.
bool add_one(const Request& request, Rank rank, ScheduleAnswer& answer) {
  auto part = build_rank_part(request.plan, request.shape, rank);
  if (part) answer.parts.emplace_back(rank, std::move(*part));
  return part.has_value();
}

bool add_all(const PlanScheduleOptions& options, const Request& request, ScheduleAnswer& answer) {
  const auto schedule = build_schedule(request.plan, request.shape);
  if (!schedule) return false;
  if (const auto prediction = predict(*schedule, request.costs.ticked.model))
    answer.completion = request.costs.time(prediction->completion);
  if (options.check) answer.check = validate(*schedule);
  for (Rank rank = 0; rank < request.shape.ranks; ++rank)
    if (!options.rank || *options.rank == rank) answer.parts.emplace_back(rank, schedule->ranks[rank]);
  return true;
}

std::optional<ScheduleAnswer> work_out(const PlanScheduleOptions& options, const Request& request, std::string& error) {
  ScheduleAnswer answer;
  answer.shape = request.shape;
  answer.is_time = request.costs.is_time;
  const bool all = can_keep_all(request);
  if (!all && (options.check || !options.rank)) {
    error = "these schedules are too long to keep them all: give --rank, without --check";
    return {};
  }
  if (all ? add_all(options, request, answer) : add_one(request, *options.rank, answer)) return answer;
  error = "the schedule of one rank would have more than 255 stages or 16777216 transfers";
  return {};
}

int answer_schedule(const PlanScheduleOptions& options, std::ostream& out, std::string& error) {
  const auto request = understand(options, error);
  if (!request) return 2;
  error = check_ranks(options, request->shape);
  if (!error.empty()) return 2;
  const auto answer = work_out(options, *request, error);
  if (!answer) return 2;
  options.json ? print_json(*answer, out) : print_text(*answer, out);
  return answer->check && !answer->check->ok ? 1 : 0;
}

}  // namespace

int plan_schedule(const PlanScheduleOptions& options, std::ostream& out, std::ostream& err) {
  return answer_or_explain(options.json, out, err,
                           [&](std::string& error) { return answer_schedule(options, out, error); });
}

}  // namespace fibocast
