// How long the operations of a group should take by the model that groups are planned by, or on the network card that
// is emulated. Works schedules out only when somebody asks, a few in each answer, and remembers them.
#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "collectives/cost_model.h"
#include "runtime/daemon/metrics/operation_metrics.h"
#include "runtime/daemon/settings.h"

namespace fibocast {

class OperationPredictions {
 public:
  explicit OperationPredictions(const Settings& settings);

  // From now on some more schedules may be worked out.
  void begin_answer() { left_ = metrics_limits::kNewPredictions; }
  // From the call, which all ranks make at once, to the end at the last one. Nothing: it has no schedule that is known
  // here, is too large to be worked out while a daemon waits, or has to wait for the next answer.
  std::optional<Nanoseconds> of(const Node::GroupInfo& group, Operation operation, const OperationMetrics::Row& row);

 private:
  // All that a schedule depends on, but the model.
  using Key = std::tuple<GroupId, Epoch, Rank, Operation, Algorithm, TreeKind, std::uint16_t, std::uint64_t,
                         std::uint32_t, ElementType, CombineOperator>;
  std::optional<Nanoseconds> work_out(const Plan& plan, const OperationShape& shape) const;

  static constexpr std::size_t kMostKept = 1024;
  TickedModel model_;
  HostSharing hosts_;
  std::map<Key, std::optional<Nanoseconds>> known_;
  std::size_t left_ = 0;
};

}  // namespace fibocast
