#include "runtime/daemon/metrics/operation_prediction.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "collectives/forecast.h"
#include "collectives/predict_hosts.h"
#include "collectives/schedule.h"
#include "runtime/daemon/group_planner.h"

namespace fibocast {
namespace {

constexpr Rank kMostIrregularRanks = 256;  // larger schedules are worked out only along trees

Rational to_thousandths(double ns) { return {static_cast<std::uint64_t>(std::llround(ns * 1000)), 1000}; }

TickedModel emulated_model(const NicSettings& nic) {
  return in_ticks({.send = std::max<Nanoseconds>(nic.send, 1),
                   .latency = nic.latency,
                   .occupancy = nic.receive,
                   .send_per_byte = to_thousandths(nic.send_per_byte),
                   .occupancy_per_byte = to_thousandths(nic.receive_per_byte)},
                  nic.ports == NicPorts::kShared ? Ports::kShared : Ports::kIndependent);
}

// Emulated costs may have no common tick in 64 bit: then only those of the model are left.
TickedModel model_of(const Settings& settings) try {
  const NicSettings nic = nic_settings(settings);
  return nic.enabled ? emulated_model(nic) : ticked_cost_model(settings);
} catch (const std::overflow_error&) {
  return ticked_cost_model(settings);
}

bool is_small_enough(const OperationShape& shape) {
  if (shape.choice.algorithm == Algorithm::kFlooding) return false;  // it is also among routers
  return shape.choice.algorithm == Algorithm::kTrees || shape.ranks <= kMostIrregularRanks;
}

}  // namespace

OperationPredictions::OperationPredictions(const Settings& settings)
    : model_(model_of(settings)), hosts_(shared_hosts(settings)) {}

std::optional<Nanoseconds> OperationPredictions::of(const Node::GroupInfo& group, Operation operation,
                                                    const OperationMetrics::Row& row) {
  const Rank participating = group.members.size() - group.routers;
  const Rank ranks = group.live > 0 ? std::min(group.live, participating) : participating;
  const OperationShape shape{.operation = operation,
                             .ranks = ranks,
                             .total_bytes = row.bytes,
                             .segment_bytes = group.plan.segment_bytes,
                             .choice = row.choice,
                             .type = row.type,
                             .op = row.op};
  const Key key{group.id,        group.epoch,          ranks,     operation,           row.choice.algorithm,
                row.choice.tree, row.choice.parameter, row.bytes, shape.segment_bytes, row.type,
                row.op};
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  if (left_ == 0) return {};
  --left_;
  if (known_.size() >= kMostKept) known_.clear();
  return known_[key] = work_out(group.plan, shape);
}

std::optional<Nanoseconds> OperationPredictions::work_out(const Plan& plan, const OperationShape& shape) const {
  if (!is_small_enough(shape) || !is_valid(plan) || !is_possible(shape) || !forecast_fits(shape, model_.model))
    return {};
  const auto forecast = fibocast::forecast(plan, shape, model_.model);
  if (!forecast) return {};
  std::uint64_t ticks = forecast->completion;
  if (hosts_.nodes > 1 && forecast->messages <= metrics_limits::kPredictedMessages)
    if (const auto schedule = build_schedule(plan, shape))
      ticks = predict_on_hosts(*schedule, model_.model, hosts_).value_or(ticks);
  return static_cast<Nanoseconds>(static_cast<double>(ticks) * model_.tick.approximately());
}

}  // namespace fibocast
