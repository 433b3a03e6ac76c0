// The schedules of all ranks of one operation and the engines that execute them, in as much memory as each needs: what
// a real node gives to one operation out of its Limits, times a million, would not fit.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "collectives/engine.h"
#include "collectives/schedule.h"

namespace fibocast {

// One operation: `write` appends the schedule of a virtual rank (the root is 0); false: there is none.
struct Workload {
  OperationShape shape;
  std::function<bool(Rank, ScheduleWriter&)> write;
};

// The schedules that nodes build themselves. A choice of kPlanned is resolved here, as a node does.
Workload workload_of(const Plan& plan, const OperationShape& shape);
// Schedules that no plan names. `schedule` must live as long as the workload.
Workload workload_of(const Schedule& schedule);

class RankPrograms {
 public:
  // Nothing if some rank has no schedule, or one of more than kMostTransfers.
  static std::optional<RankPrograms> build(const Workload& workload);

  Rank ranks() const { return static_cast<Rank>(runs_.size()); }
  // The product's engine at work for one rank; its run is number 0. A view, made when it is needed.
  Engine engine(Rank rank);
  RankSchedule schedule(Rank rank) const;

 private:
  RankPrograms() = default;
  bool add(const Workload& workload, Rank rank);

  std::vector<Engine::Run> runs_;
  std::vector<Stage> stages_;
  std::vector<Engine::StageProgress> progress_;
  std::vector<Transfer> transfers_;
  std::vector<std::uint32_t> counts_;
  std::vector<std::size_t> first_stage_;  // one more than ranks, as first_transfer_
  std::vector<std::size_t> first_transfer_;
  std::vector<Stage> stage_scratch_;
  std::vector<Transfer> transfer_scratch_;
};

}  // namespace fibocast
