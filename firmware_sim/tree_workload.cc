#include "firmware_sim/tree_workload.h"

#include <algorithm>

namespace fibocast {
namespace {

class TreeSchedule {
 public:
  TreeSchedule(const Tree& tree, const OperationShape& shape) : tree_(tree), schedule_{shape, {}} {
    schedule_.ranks.resize(tree.size());
  }

  void add_reduction() {
    for (Rank v = 0; v < tree_.size(); ++v) {
      Stage& stage = begin_stage(v, 1);
      stage.waits_for_arrival = true;
      std::vector<Rank> children(tree_.children(v).begin(), tree_.children(v).end());
      std::ranges::sort(children);
      for (const Rank child : children) put(v, child, up_), ++stage.receives;
      if (v != tree_.root()) put(v, tree_.parent(v), up_), ++stage.sends;
    }
  }

  void add_distribution(std::uint32_t repeat) {
    for (Rank v = 0; v < tree_.size(); ++v) {
      const bool first = schedule_.ranks[v].stages.empty();
      Transfer t{.stage = static_cast<std::uint8_t>(first ? 0 : 1), .carries = down_};
      Stage& stage = begin_stage(v, repeat);
      stage.waits_for_arrival = first && v == tree_.root();
      if (v != tree_.root()) put(v, tree_.parent(v), t), ++stage.receives;
      for (const Rank child : tree_.children(v)) put(v, child, t), ++stage.sends;
    }
  }

  // What a partial result does at its receiver.
  void carry(Carries down, const Transfer& up) { down_ = down, up_ = up; }
  Schedule take() { return std::move(schedule_); }

 private:
  Stage& begin_stage(Rank v, std::uint32_t repeat) {
    RankPart& part = schedule_.ranks[v];
    const auto after = static_cast<std::uint8_t>(part.stages.empty() ? kNoStage : part.stages.size() - 1);
    part.stages.push_back(
        {.first_transfer = static_cast<std::uint32_t>(part.transfers.size()), .repeat = repeat, .after = after});
    return part.stages.back();
  }
  void put(Rank v, Rank peer, Transfer t) {
    t.peer = peer;
    schedule_.ranks[v].transfers.push_back(t);
  }

  const Tree& tree_;
  Schedule schedule_;
  Transfer up_;
  Carries down_ = Carries::kToken;
};

}  // namespace

std::optional<Schedule> schedule_along(const Tree& tree, const OperationShape& shape) {
  TreeSchedule made(tree, shape);
  switch (shape.operation) {
    case Operation::kMulticast:
      made.carry(Carries::kPayload, {});
      made.add_distribution(shape.segments());
      return made.take();
    case Operation::kBarrier:
      made.add_reduction();
      made.add_distribution(1);
      return made.take();
    case Operation::kReduce:
      made.carry({}, {.carries = Carries::kPartial, .registers = kRegisterT});
      made.add_reduction();
      return made.take();
    default: return {};
  }
}

}  // namespace fibocast
