// fibocast plan why: which algorithm is fastest for an operation on a machine, why, and how far it is from what is
// possible at all.
#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <utility>

#include "collectives/models/workstation_planner.h"
#include "collectives/schedule.h"
#include "collectives/tree_view.h"
#include "runtime/cli/plan_answer.h"
#include "runtime/cli/plan_command.h"
#include "runtime/cli/plan_model.h"
#include "runtime/cli/plan_why_text.h"

namespace fibocast {
namespace {

constexpr Rank kMostWhyRanks = 65'536;  // answered in seconds

constexpr std::array<std::pair<const char*, ElementType>, 6> kTypes = {{{"bytes", ElementType::kBytes},
                                                                        {"int32", ElementType::kInt32},
                                                                        {"int64", ElementType::kInt64},
                                                                        {"uint64", ElementType::kUint64},
                                                                        {"float", ElementType::kFloat},
                                                                        {"double", ElementType::kDouble}}};
constexpr std::array<std::pair<const char*, CombineOperator>, 7> kOperators = {{{"sum", CombineOperator::kSum},
                                                                                {"prod", CombineOperator::kProd},
                                                                                {"min", CombineOperator::kMin},
                                                                                {"max", CombineOperator::kMax},
                                                                                {"and", CombineOperator::kAnd},
                                                                                {"or", CombineOperator::kOr},
                                                                                {"xor", CombineOperator::kXor}}};

template <typename Table, typename Value>
bool find_name(const Table& table, const std::string& name, const char* option, Value& value, std::string& error) {
  std::string names;
  for (const auto& [known, meaning] : table) {
    if (name == known) return value = meaning, true;
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  error = std::string(option) + " " + name + " is unknown; allowed are " + names;
  return false;
}

struct Why {
  WhyHeading heading;
  PlanAnswer answer;
};

std::string check_options(const PlanWhyOptions& o, const Operation op) {
  if (o.ranks < 1 || o.ranks > kMostWhyRanks) return "--ranks must be 1 to " + std::to_string(kMostWhyRanks);
  if (o.colocated < 1 || o.processors < 1) return "--colocated and --processors must be at least 1";
  if (op == Operation::kBarrier && o.bytes > 0) return "a barrier carries no bytes: leave --bytes out";
  return {};
}

std::optional<OperationShape> shape_of(const PlanWhyOptions& options, Operation operation, std::string& error) {
  OperationShape shape{.operation = operation, .ranks = options.ranks, .total_bytes = options.bytes};
  if (!combines(operation)) {
    if (is_of_shares(operation)) error = objection(shape);
    return error.empty() ? std::optional(shape) : std::nullopt;
  }
  if (!find_name(kTypes, options.type, "--type", shape.type, error)) return {};
  if (!find_name(kOperators, options.combine_operator, "--operator", shape.op, error)) return {};
  error = objection(shape);
  if (!error.empty()) return {};
  return shape;
}

HostSharing hosts_of(const PlanWhyOptions& options) {
  return {.nodes = options.colocated,
          .processors = options.processors,
          .fans_out = options.fans_out && options.colocated > 1};
}

WhyHeading heading_of(const PlanWhyOptions& options, const Costs& costs) {
  const CostModel& m = costs.ticked.model;
  WhyHeading h{.operation = options.operation, .ranks = options.ranks, .bytes = options.bytes};
  h.tick = costs.ticked.tick, h.is_time = costs.is_time;
  h.one_message = m.send + m.receive();
  h.hosts = hosts_of(options);
  const std::array<std::pair<const char*, std::uint64_t>, 6> parts = {{{"s", m.send},
                                                                       {"l", m.latency},
                                                                       {"o", m.occupancy},
                                                                       {"c", m.send_per_byte},
                                                                       {"d", m.occupancy_per_byte},
                                                                       {"wake", options.colocated > 1 ? m.wake : 0}}};
  for (const auto& [name, ticks] : parts) {
    h.model[name] = h.number(ticks);
    if (ticks > 0) h.model_text += std::string(name) + " = " + h.human(ticks) + ", ";
  }
  h.model["ports"] = options.ports;
  h.model_text += options.ports + " ports";
  if (options.colocated > 1)
    h.model_text += ", " + std::to_string(options.colocated) + " nodes on each host with " +
                    std::to_string(options.processors) + " processors";
  if (h.hosts.fans_out) h.model_text += ", which fan out";
  return h;
}

// The model of --model; puts it in the place of costs.
std::optional<PlanModel> take_model(PlanWhyOptions& options, std::string& error) {
  if (options.model.empty()) return PlanModel{};
  if (!options.costs.empty() || options.colocated != 1)
    error = "give either --model or costs and --colocated: the file says them";
  const auto model = error.empty() ? read_model(options.model, error) : std::nullopt;
  if (!model) return {};
  options.costs = model->costs;
  options.colocated = std::min(model->hosts.nodes, options.ranks), options.processors = model->hosts.processors;
  options.fans_out = model->hosts.fans_out;
  return model;
}

std::optional<Why> why_alike(PlanWhyOptions options, Operation operation, std::string& error) {
  const auto set = take_model(options, error);
  if (!set) return {};
  error = check_options(options, operation);
  if (!error.empty()) return {};
  const auto shape = shape_of(options, operation, error);
  if (!shape) return {};
  const auto costs =
      parse_costs(options.costs, options.ports == "shared" ? Ports::kShared : Ports::kIndependent, error);
  if (!costs) return {};
  const CostModel& model = costs->ticked.model;
  if (!is_valid(fibo_plan(model)) || !forecast_fits(*shape, model)) throw std::overflow_error("times");
  WhyHeading heading = heading_of(options, *costs);
  if (const MeasuredChoice* fastest = find_measured(set->measured, operation, options.ranks, options.bytes))
    heading.measured = algorithm_name(operation, fastest->choice);
  return Why{std::move(heading), answer({*shape, model, hosts_of(options)})};
}

// Costs in microseconds (Banikazemi et al. 1999).
std::optional<Why> why_different(PlanWhyOptions options, Operation operation, std::string& error) {
  if (operation != Operation::kBarrier && operation != Operation::kMulticast)
    error = "with --nodes the operation must be barrier or multicast";
  else if (!options.costs.empty() || !options.model.empty() || options.colocated != 1)
    error = "give either --nodes or costs and --colocated: the file says what each node costs";
  if (!error.empty()) return {};
  const auto cluster = read_nodes({.file = options.nodes, .preset = options.preset}, error);
  if (!cluster) return {};
  const auto count = static_cast<Rank>(cluster->nodes.size());
  if (options.ranks != 0 && options.ranks != count)
    error = "--ranks " + std::to_string(options.ranks) + " but " + options.nodes + " lists " + std::to_string(count) +
            " nodes";
  options.ranks = count;
  if (error.empty()) error = check_options(options, operation);
  if (!error.empty()) return {};
  const TickedWorkstations machine = workstations_in_ticks(*cluster, options.bytes);
  WhyHeading h{.operation = options.operation, .ranks = count, .bytes = options.bytes};
  h.tick = machine.tick * Rational(1000), h.is_time = true;
  h.model["nodes"] = options.nodes;
  h.model_text = "nodes of " + options.nodes + ", each with its own costs";
  return Why{std::move(h), plan_workstations_answer(operation, machine.costs, options.bytes)};
}

int answer_why(const PlanWhyOptions& options, std::ostream& out, std::string& error) {
  const auto operation = operation_by_name(options.operation);
  if (!operation) {
    error =
        "there is no operation \"" + options.operation +
        "\"; allowed are barrier, multicast, reduce, allreduce, scatter, gather, allgather, alltoall, divide, conquer";
    return 2;
  }
  const auto why =
      options.nodes.empty() ? why_alike(options, *operation, error) : why_different(options, *operation, error);
  if (!why) return 2;
  if (options.json)
    out << why_json(why->heading, why->answer).dump() << '\n';
  else
    out << why_text(why->heading, why->answer);
  return 0;
}

}  // namespace

int plan_why(const PlanWhyOptions& options, std::ostream& out, std::ostream& err) {
  return answer_or_explain(options.json, out, err, [&](std::string& error) { return answer_why(options, out, error); });
}

void add_plan_why_command(CLI::App& plan, int& exit_code) {
  const auto options = std::make_shared<PlanWhyOptions>();
  CLI::App* app = plan.add_subcommand("why", "Which algorithm is fastest here, why, and how far it is from optimal");
  app->add_option("--operation", options->operation,
                  "barrier, multicast, reduce, allreduce, scatter, gather, allgather, alltoall, divide or conquer")
      ->capture_default_str();
  app->add_option("--ranks", options->ranks, "number of ranks; those of --nodes if there is a file");
  app->add_option("--bytes", options->bytes, "of the payload, of a rank's vector, or of one rank's block");
  app->add_option("--type", options->type, "elements of a reduction: bytes, int32, int64, uint64, float, double")
      ->capture_default_str();
  app->add_option("--operator", options->combine_operator, "sum, prod, min, max, and, or, xor")->capture_default_str();
  app->add_option("--ports", options->ports, "one processor for sends and receives, or two")
      ->check(CLI::IsMember({"shared", "independent"}))
      ->capture_default_str();
  app->add_option("--colocated", options->colocated, "so many nodes share a host")->capture_default_str();
  app->add_option("--processors", options->processors, "... which has so many processors")->capture_default_str();
  app->add_flag("--fans-out", options->fans_out, "... and copies a short message to several of its nodes by itself");
  app->add_option("--wake", options->costs.wake, "... and needs so long to run a node that waited");
  add_cost_options(*app, options->costs);
  add_byte_cost_options(*app, options->costs);
  app->add_option("--model", options->model, "instead of costs: a daemon's settings, for their [model]");
  app->add_option("--nodes", options->nodes, "instead of costs: a file of different nodes, as in plan tree");
  app->add_option("--preset", options->preset, "of --nodes: literal or folded")->capture_default_str();
  app->add_flag("--json", options->json, "one JSON document on stdout, nothing else there");
  app->add_flag("--quiet", options->quiet, "no progress and no remarks: there are none");
  app->footer("Example: fibocast plan why --operation barrier --ranks 19 --s 27us --r 88us");
  app->callback([options, &exit_code] { exit_code = plan_why(*options, std::cout, std::cerr); });
}

}  // namespace fibocast
