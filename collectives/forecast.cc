#include "collectives/forecast.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "collectives/forecast_trees.h"
#include "collectives/predict.h"

namespace fibocast {
namespace {

// Counts what one rank's schedule makes it do.
void count(const RankPart& part, const OperationShape& shape, const CostModel& model, Rank times, Forecast& f) {
  NodeLoad load;
  for (const Stage& stage : part.stages)
    for (std::uint32_t k = 0; k < stage.repeat; ++k) {
      for (const Transfer& t : part.view().receives(stage)) {
        const std::uint64_t bytes = transfer_bytes(shape, t, k);
        load.ticks += model.occupancy + bytes * model.occupancy_per_byte, load.bytes += bytes;
      }
      for (const Transfer& t : part.view().sends(stage)) {
        const std::uint64_t bytes = transfer_bytes(shape, t, k);
        load.ticks += model.send + bytes * model.send_per_byte, load.bytes += bytes;
      }
      f.messages += std::uint64_t{stage.sends} * times;
    }
  f.loads.insert(f.loads.end(), times, load);
  f.stages = std::max(f.stages, static_cast<std::uint32_t>(part.stages.size()));
  f.transfers = std::max<std::uint64_t>(f.transfers, part.transfers.size());
}

std::optional<Forecast> forecast_one_for_all(const Plan& plan, const OperationShape& shape, const CostModel& model) {
  const auto part = build_rank_part(plan, shape, 0);
  if (!part) return {};
  const auto prediction = predict_symmetric(*part, shape, model);
  if (!prediction) return {};
  Forecast f{.completion = prediction->completion, .rounds = prediction->rounds};
  count(*part, shape, model, shape.ranks, f);
  return f;
}

// By what the last rank does: a root may do more.
bool has_too_many_messages(const Plan& plan, const OperationShape& shape) {
  const auto part = build_rank_part(plan, shape, shape.ranks - 1);
  return part && part->transfers.size() / 2 * shape.ranks > kMostForecastMessages;
}

std::optional<Forecast> forecast_all(const Plan& plan, const OperationShape& shape, const CostModel& model) {
  if (has_too_many_messages(plan, shape)) return {};
  const auto schedule = build_schedule(plan, shape);
  if (!schedule) return {};
  const auto prediction = predict(*schedule, model);
  if (!prediction) return {};
  Forecast f{.completion = prediction->completion, .rounds = prediction->rounds};
  for (const RankPart& part : schedule->ranks) count(part, schedule->shape, model, 1, f);
  return f;
}

bool has_equal_blocks(const OperationShape& shape, const CostModel& model) {
  if (model.send_per_byte == 0 && model.occupancy_per_byte == 0) return true;
  const std::uint64_t unit = std::uint64_t{block_count(shape)} * element_bytes(shape.type);
  return shape.total_bytes % unit == 0;
}

}  // namespace

bool is_symmetric(const OperationShape& shape, const CostModel& model) {
  switch (shape.choice.algorithm) {
    case Algorithm::kDissemination:
    case Algorithm::kDelayReceive:
    case Algorithm::kDelaySend:
    case Algorithm::kCombineEager:
    case Algorithm::kBruck: return true;
    case Algorithm::kPairwise:
      if (shape.operation == Operation::kReduce) return false;
      return !combines(shape.operation) || has_equal_blocks(shape, model);
    case Algorithm::kRing: return !combines(shape.operation) || has_equal_blocks(shape, model);
    case Algorithm::kDoubling: return std::has_single_bit(shape.ranks);
    case Algorithm::kHalving:
      if (shape.operation == Operation::kReduce) return false;
      return std::has_single_bit(shape.ranks) && has_equal_blocks(shape, model);
    default: return false;
  }
}

bool forecast_fits(const OperationShape& shape, const CostModel& model) {
  constexpr long double kMost = 0x1p62L;
  const auto of = [](std::uint64_t value) { return static_cast<long double>(value); };
  // Every message of any schedule one after the other, everything through one rank.
  const long double p = of(shape.ranks), bytes = of(shape.total_bytes) + 8;
  const long double per_byte = of(model.send_per_byte) + of(model.occupancy_per_byte) + 1;
  const long double per_message = of(model.send) + of(model.receive());
  const bool has_blocks = has_block_of_each_rank(shape.operation);
  const long double most_bytes = has_blocks ? bytes * p * p : 4 * bytes * p;
  return 4 * p * (shape.segments() + 64.0L) * per_message < kMost && most_bytes * per_byte < kMost;
}

std::optional<Forecast> forecast(const Plan& plan, const OperationShape& asked, const CostModel& model) {
  OperationShape shape = asked;
  if (shape.choice.algorithm == Algorithm::kPlanned)
    shape.choice = planned_choice(plan, shape.operation, shape.total_bytes);
  if (!is_known(shape.operation, shape.choice)) return {};
  if (shape.choice.algorithm == Algorithm::kTrees) return forecast_trees(plan, shape, model);
  return is_symmetric(shape, model) ? forecast_one_for_all(plan, shape, model) : forecast_all(plan, shape, model);
}

}  // namespace fibocast
