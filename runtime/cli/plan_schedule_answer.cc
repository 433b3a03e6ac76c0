#include "runtime/cli/plan_schedule_answer.h"

#include <ostream>
#include <string>

#include "collectives/algorithm_catalog.h"
#include "collectives/element_names.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Transfer& t, const char* peer_key) {
  Json json = {{peer_key, t.peer}, {"carries", carries_name(t.carries)}, {"stage", t.stage}};
  if (t.carries == Carries::kPartial) json["registers"] = registers_name(t.registers);
  if (t.carries == Carries::kBlocks) json.update({{"first_block", t.first_block}, {"blocks", t.blocks}});
  if (t.carries == Carries::kBitBlocks) json["bit"] = t.first_block;
  const bool of_blocks = t.carries == Carries::kBlocks || t.carries == Carries::kBitBlocks;
  if (of_blocks || t.on_receive != OnReceive::kStore) json["on_receive"] = on_receive_name(t.on_receive);
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

Json json_of(const Validation& check, Operation operation) {
  Json json = {{"ok", check.ok}, {"message", check.message}};
  if (check.ok && combines(operation))
    json.update({{"same_bits", check.same_bits}, {"keeps_order", check.keeps_order}});
  return json;
}

std::string proof_of(const Validation& check, Operation operation) {
  if (!check.ok) return "wrong: " + check.message;
  std::string proof = "proved for " + check.message;
  if (!combines(operation)) return proof;
  proof += check.same_bits ? "; floating point gives the same bits at every rank"
                           : "; floating point may give other bits at other ranks";
  return proof + (check.keeps_order ? "; the order of the ranks is kept" : "; the operator must be commutative");
}

}  // namespace

void print_json(const ScheduleAnswer& answer, std::ostream& out) {
  const OperationShape& shape = answer.shape;
  const Rank routers = shape.ranks - participating_ranks(shape);
  Json json = {{"operation", operation_name(shape.operation)},
               {"algorithm", algorithm_name(shape.operation, shape.choice)},
               {"ranks", shape.ranks},
               {"bytes", shape.total_bytes},
               {"segment_bytes", shape.segment_bytes}};
  if (routers > 0) json["routers"] = routers;
  if (combines(shape.operation))
    json.update({{"type", element_type_name(shape.type)}, {"operator", combine_operator_name(shape.op)}});
  if (is_of_shares(shape.operation)) json["type"] = element_type_name(shape.type);
  if (answer.is_time) json["unit"] = "ns";
  if (answer.completion) json["completion"] = to_json(*answer.completion);
  Json schedule = Json::array();
  for (const auto& [rank, part] : answer.parts) schedule.push_back(json_of(part, rank));
  json["schedule"] = std::move(schedule);
  if (answer.check) json["check"] = json_of(*answer.check, shape.operation);
  out << json.dump() << '\n';
}

void print_text(const ScheduleAnswer& answer, std::ostream& out) {
  const Rank participants = participating_ranks(answer.shape);
  out << to_text(answer.shape);
  if (participants < answer.shape.ranks)
    out << "# ranks " << participants << " to " << answer.shape.ranks - 1 << " are routers\n";
  for (const auto& [rank, part] : answer.parts) out << to_text(part, rank);
  if (answer.completion) out << "# predicted: " << to_human(*answer.completion, answer.is_time) << '\n';
  if (answer.check) out << "# " << proof_of(*answer.check, answer.shape.operation) << '\n';
}

}  // namespace fibocast
