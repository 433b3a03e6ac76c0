// fibocast plan schedule: the stages of one rank or of all, their predicted time, and the proof that they are right.
#include <ostream>
#include <stdexcept>
#include <utility>

#include "collectives/predict.h"
#include "collectives/schedule.h"
#include "collectives/tree_catalog.h"
#include "collectives/validate.h"
#include "runtime/cli/plan_command.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

constexpr Rank kMostRanks = 200'000;  // all ranks' schedules are kept in memory
constexpr const char* kCarries[] = {"token", "payload", "partial", "blocks"};

// What the options mean.
struct Request {
  Costs costs;
  Plan plan;
  OperationShape shape;
};

// The reduction takes the mirror tree: the best one for gathering under the same costs.
Plan plan_of(const TreeSpec& distribution, const CostModel& model) {
  Plan plan{distribution, distribution, 0};
  if (distribution.kind == TreeKind::kFibo || distribution.kind == TreeKind::kLambda)
    plan.reduction = fibo_plan(model).reduction;
  return plan;
}

std::optional<Request> understand(const PlanScheduleOptions& options, std::string& error) {
  const auto operation = operation_by_name(options.operation);
  if (!operation) {
    error = "there is no operation \"" + options.operation + "\"; allowed are barrier, multicast";
    return {};
  }
  if (options.costs.empty() && (options.algorithm == "fibo" || options.algorithm == "lambda")) {
    error = "the tree \"" + options.algorithm + "\" needs costs: --s with --r (or --l and --o), or --lambda";
    return {};
  }
  const auto costs =
      parse_costs(options.costs, options.ports == "shared" ? Ports::kShared : Ports::kIndependent, error);
  if (!costs) return {};
  const CostModel& m = costs->ticked.model;
  const auto choice = choose_tree(options.algorithm, {m.send, m.receive(), LambdaConstruction::kDescent}, error);
  if (!choice) return {};
  if (!choice->spec) {
    error = "a daemon cannot run the tree \"" + options.algorithm + "\"; take binomial";
    return {};
  }
  return Request{*costs, plan_of(*choice->spec, m), {*operation, options.ranks, options.bytes, options.segment_bytes}};
}

std::string check_ranks(const PlanScheduleOptions& options) {
  if (options.ranks < 1 || options.ranks == kNoRank) return "--ranks must be 1 to " + std::to_string(kNoRank - 1);
  if (options.rank && *options.rank >= options.ranks)
    return "--rank must be a rank, 0 to " + std::to_string(options.ranks - 1);
  if (options.ranks > kMostRanks && options.check)
    return "--check needs the schedules of all ranks: at most " + std::to_string(kMostRanks);
  if (options.ranks > kMostRanks && !options.rank)
    return "the schedules of more than " + std::to_string(kMostRanks) + " ranks are shown one at a time: give --rank";
  if (options.segment_bytes > 0 && options.bytes / options.segment_bytes >= UINT32_MAX)
    return "--segment is too small: more than 4294967295 segments";
  return {};
}

Json json_of(const Transfer& t, const char* peer_key) {
  Json json = {{peer_key, t.peer}, {"carries", kCarries[static_cast<int>(t.carries)]}, {"stage", t.stage}};
  if (t.carries == Carries::kBlocks) json.update({{"first_block", t.first_block}, {"blocks", t.blocks}});
  return json;
}

Json json_of(const RankPart& part, Rank rank) {
  Json stages = Json::array();
  for (const Stage& stage : part.stages) {
    Json receives = Json::array();
    Json sends = Json::array();
    for (const Transfer& t : part.view().receives(stage)) receives.push_back(json_of(t, "from"));
    for (const Transfer& t : part.view().sends(stage)) sends.push_back(json_of(t, "to"));
    stages.push_back({{"after", stage.after == kNoStage ? Json() : Json(stage.after)},
                      {"repeat", stage.repeat},
                      {"not_before", stage.not_before},
                      {"waits_for_arrival", stage.waits_for_arrival},
                      {"receives", receives},
                      {"sends", sends}});
  }
  return {{"rank", rank}, {"stages", stages}};
}

struct Answer {
  std::vector<std::pair<Rank, RankPart>> parts;
  std::optional<Rational> completion;
  std::optional<Validation> check;
};

// Everything for all ranks; for one of very many only what is its own.
std::optional<Answer> work_out(const PlanScheduleOptions& options, const Request& request) {
  Answer answer;
  if (options.ranks > kMostRanks) {
    auto part = build_rank_part(request.plan, request.shape, *options.rank);
    if (!part) return {};
    answer.parts.emplace_back(*options.rank, std::move(*part));
    return answer;
  }
  const auto schedule = build_schedule(request.plan, request.shape);
  if (!schedule) return {};
  if (const auto prediction = predict(*schedule, request.costs.ticked.model))
    answer.completion = request.costs.time(prediction->completion);
  if (options.check) answer.check = validate(*schedule);
  for (Rank rank = 0; rank < options.ranks; ++rank)
    if (!options.rank || *options.rank == rank) answer.parts.emplace_back(rank, schedule->ranks[rank]);
  return answer;
}

void print_json(const PlanScheduleOptions& options, const Request& request, const Answer& answer, std::ostream& out) {
  Json json = {{"operation", options.operation},
               {"algorithm", options.algorithm},
               {"ranks", options.ranks},
               {"bytes", options.bytes},
               {"segment_bytes", options.segment_bytes}};
  if (request.costs.is_time) json["unit"] = "ns";
  if (answer.completion) json["completion"] = to_json(*answer.completion);
  Json schedule = Json::array();
  for (const auto& [rank, part] : answer.parts) schedule.push_back(json_of(part, rank));
  json["schedule"] = std::move(schedule);
  if (answer.check) json["check"] = {{"ok", answer.check->ok}, {"message", answer.check->message}};
  out << json.dump() << '\n';
}

void print_text(const PlanScheduleOptions& options, const Request& request, const Answer& answer, std::ostream& out) {
  out << "schedule " << options.operation << " ranks " << options.ranks << " bytes " << options.bytes << " segment "
      << options.segment_bytes << " algorithm fibo\n";
  for (const auto& [rank, part] : answer.parts) out << to_text(part, rank);
  if (answer.completion) out << "predicted: " << to_human(*answer.completion, request.costs.is_time) << '\n';
  if (answer.check) out << (answer.check->ok ? "proved for " : "wrong: ") << answer.check->message << '\n';
}

int answer_schedule(const PlanScheduleOptions& options, std::ostream& out, std::string& error) {
  error = check_ranks(options);
  if (!error.empty()) return 2;
  const auto request = understand(options, error);
  if (!request) return 2;
  const auto answer = work_out(options, *request);
  if (!answer) {
    error = "the schedule of one rank would have more than " + std::to_string(kMostTransfers) + " transfers";
    return 2;
  }
  options.json ? print_json(options, *request, *answer, out) : print_text(options, *request, *answer, out);
  return answer->check && !answer->check->ok ? 1 : 0;
}

}  // namespace

int plan_schedule(const PlanScheduleOptions& options, std::ostream& out, std::ostream& err) {
  std::string error;
  int exit_code = 2;
  try {
    exit_code = answer_schedule(options, out, error);
  } catch (const std::overflow_error&) {
    error = "the times do not fit in 64 bit";
  }
  if (!error.empty()) err << "fibocast: " << error << '\n';
  return exit_code;
}

}  // namespace fibocast
