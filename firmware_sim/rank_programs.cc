#include "firmware_sim/rank_programs.h"

#include <utility>

namespace fibocast {

Workload workload_of(const Plan& plan, const OperationShape& asked) {
  OperationShape shape = asked;
  if (shape.choice.algorithm == Algorithm::kPlanned)
    shape.choice = planned_choice(plan, shape.operation, shape.total_bytes);
  return {shape, [plan, shape](Rank rank, ScheduleWriter& out) { return build_rank_schedule(plan, shape, rank, out); }};
}

Workload workload_of(const Schedule& schedule) {
  const auto write = [&schedule](Rank rank, ScheduleWriter& out) {
    const RankSchedule part = schedule.ranks[rank].view();
    for (const Stage& stage : part.stages) {
      out.begin_stage(stage);
      for (const Transfer& t : part.receives(stage)) out.receive(t);
      for (const Transfer& t : part.sends(stage)) out.send(t);
    }
    return true;
  };
  return {schedule.shape, write};
}

std::optional<RankPrograms> RankPrograms::build(const Workload& workload) {
  constexpr std::size_t kMostStages = 255;
  RankPrograms programs;
  programs.stage_scratch_.resize(kMostStages);
  programs.transfer_scratch_.resize(64);
  programs.runs_.reserve(workload.shape.ranks);
  for (Rank rank = 0; rank < workload.shape.ranks; ++rank)
    if (!programs.add(workload, rank)) return {};
  programs.first_stage_.push_back(programs.stages_.size());
  programs.first_transfer_.push_back(programs.transfers_.size());
  programs.progress_.resize(programs.stages_.size());
  programs.counts_.resize(programs.transfers_.size());
  programs.runs_.resize(workload.shape.ranks);
  for (Rank rank = 0; rank < programs.ranks(); ++rank)
    programs.engine(rank).open_written(0, workload.shape,
                                       static_cast<std::uint32_t>(programs.schedule(rank).stages.size()));
  return programs;
}

bool RankPrograms::add(const Workload& workload, Rank rank) {
  for (;; transfer_scratch_.resize(2 * transfer_scratch_.size())) {
    ScheduleWriter out(stage_scratch_, transfer_scratch_);
    const bool written = workload.write(rank, out);
    if (!out.ok() && transfer_scratch_.size() < kMostTransfers) continue;
    if (!written || !out.ok()) return false;
    const RankSchedule schedule = out.schedule();
    first_stage_.push_back(stages_.size());
    first_transfer_.push_back(transfers_.size());
    stages_.insert(stages_.end(), schedule.stages.begin(), schedule.stages.end());
    transfers_.insert(transfers_.end(), schedule.transfers.begin(), schedule.transfers.end());
    return true;
  }
}

RankSchedule RankPrograms::schedule(Rank rank) const {
  const std::size_t stages = first_stage_[rank + 1] - first_stage_[rank];
  const std::size_t transfers = first_transfer_[rank + 1] - first_transfer_[rank];
  return {std::span(stages_).subspan(first_stage_[rank], stages),
          std::span(transfers_).subspan(first_transfer_[rank], transfers)};
}

Engine RankPrograms::engine(Rank rank) {
  const std::size_t stage = first_stage_[rank], stages = first_stage_[rank + 1] - stage;
  const std::size_t transfer = first_transfer_[rank], transfers = first_transfer_[rank + 1] - transfer;
  Limits limits;
  limits.stages = static_cast<std::uint32_t>(stages);
  limits.transfers = static_cast<std::uint32_t>(transfers);
  return Engine(limits, {.runs = std::span(runs_).subspan(rank, 1),
                         .stages = std::span(stages_).subspan(stage, stages),
                         .progress = std::span(progress_).subspan(stage, stages),
                         .transfers = std::span(transfers_).subspan(transfer, transfers),
                         .counts = std::span(counts_).subspan(transfer, transfers)});
}

}  // namespace fibocast
