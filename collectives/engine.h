// The engine executes the schedules of one node: the only state machine that knows what a stage is. It is told
// that the local participants have called and which messages came in; it answers which transfer to send next and
// when an operation has ended here. It neither sends nor waits: the node does. Messages may come before the
// operation is called locally or before their stage: they are counted and wait.
//
// Each operation under way has a run, named by its index; the caller chooses the index (group and generation).
// Core: no heap, no exceptions; memory is handed in. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/plan.h"
#include "collectives/rank_schedule.h"
#include "collectives/types.h"

namespace fibocast {

class Engine {
 public:
  struct StageProgress {
    std::uint32_t repetition;  // the one under way
    std::uint32_t combined;    // receives of it, in their order, that are in and done with
    std::uint32_t sent;        // sends of it that were taken
    bool ended;
  };
  struct Run {
    OperationShape shape;
    Rank me;
    std::uint32_t stages;           // 0: no schedule has been built
    std::uint32_t open_stages;      // not ended yet
    std::uint32_t waiting;          // receives (all repetitions) that have not come
    Nanoseconds latest_not_before;  // of all stages
    bool arrived;
    bool combines;  // receives something that is not where it belongs as soon as it is here
  };
  // Memory for `runs` operations: stages, progress: runs * limits.stages; transfers, counts: runs * limits.transfers.
  // `runs` must be value-initialised, the others may hold anything.
  struct Memory {
    std::span<Run> runs;
    std::span<Stage> stages;
    std::span<StageProgress> progress;
    std::span<Transfer> transfers;
    std::span<std::uint32_t> counts;
  };
  // A transfer to be sent, or whose data is to be combined, now. `index` is its place in the schedule's transfers.
  struct Send {
    Transfer transfer;
    std::uint32_t index = 0;
    std::uint32_t stage = 0;  // of this rank, which sends or combines; Transfer::stage is the receiver's
    std::uint32_t repetition = 0;
    Nanoseconds not_before = 0;  // of its stage: model time, the caller's to honour
  };
  enum class Receipt : std::uint8_t {
    kAccepted,
    kDuplicate,   // this repetition was in already
    kUnexpected,  // the schedule expects no such message, or one of its repetitions was skipped
  };

  Engine(const Limits& limits, const Memory& memory) : limits_(limits), memory_(memory) {}

  // -- commands
  // Starts a run from its beginning; the schedule of the run's last operation is kept if it is the same one. All calls
  // for a run up to a forget() name the same plan. False: the schedule does not fit Limits::stages or ::transfers.
  bool open(std::uint32_t run, const Plan& plan, const OperationShape& shape, Rank me);
  // The same with a schedule that is already in the run's memory, `stages` long, because no plan names it.
  void open_written(std::uint32_t run, const OperationShape& shape, std::uint32_t stages);
  // Another plan comes: the next open() of this run builds its schedule anew.
  void forget(std::uint32_t run) { memory_.runs[run].stages = 0; }
  // -- events in
  void arrive(std::uint32_t run);  // all local participants have called
  Receipt receive(std::uint32_t run, std::uint32_t index, std::uint32_t repetition);
  // -- queries and outputs
  // The receive from virtual rank `source` in `stage`: its index in transfers, or kNone.
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  std::uint32_t find_receive(std::uint32_t run, Rank source, std::uint8_t stage) const;
  // That many repetitions of the receive at `index` have come.
  bool is_in(std::uint32_t run, std::uint32_t index, std::uint32_t repetitions) const {
    return counts(run)[index] >= repetitions;
  }
  // A received transfer whose data must be put where it belongs, or be combined, before the next one of its stage.
  bool next_combine(std::uint32_t run, Send& out) const;  // looks; commit_combine() takes it
  void commit_combine(std::uint32_t run);
  bool next_send(std::uint32_t run, Send& out) const;  // looks; commit_send() takes it
  void commit_send(std::uint32_t run, const Send& send);
  bool activated(std::uint32_t run) const { return memory_.runs[run].waiting == 0; }  // every message is in
  Nanoseconds latest_not_before(std::uint32_t run) const { return memory_.runs[run].latest_not_before; }
  bool finished(std::uint32_t run) const { return memory_.runs[run].open_stages == 0; }
  bool arrived(std::uint32_t run) const { return memory_.runs[run].arrived; }
  RankSchedule schedule(std::uint32_t run) const;

 private:
  std::span<StageProgress> progress(std::uint32_t run) const {
    return memory_.progress.subspan(std::size_t{run} * limits_.stages, memory_.runs[run].stages);
  }
  std::span<std::uint32_t> counts(std::uint32_t run) const {
    return memory_.counts.subspan(std::size_t{run} * limits_.transfers, limits_.transfers);
  }
  bool started(std::uint32_t run, std::uint32_t stage) const;
  bool may_send(std::uint32_t run, std::uint32_t stage) const;
  std::uint32_t sending_stage(std::uint32_t run) const;
  bool may_combine(std::uint32_t run, std::uint32_t stage) const;
  bool build(std::uint32_t run, const Plan& plan, const OperationShape& shape, Rank me);
  void begin(std::uint32_t run, const OperationShape& shape);
  void advance(std::uint32_t run, std::uint32_t stage);
  void end_stages(std::uint32_t run);
  bool end_repetitions(std::uint32_t run, std::uint32_t stage);

  Limits limits_;
  Memory memory_;
};

}  // namespace fibocast
