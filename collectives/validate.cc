#include "collectives/validate.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "collectives/rank_data.h"
#include "collectives/rank_runs.h"

namespace fibocast {
namespace {

// What a message says: who has arrived, and data.
struct CheckedMessage {
  SymbolicMessage data;
  RankRuns arrived;
};

struct CheckedStage {
  std::uint32_t repetition = 0;  // == repeat: the stage has ended
  std::uint32_t received = 0;    // in this repetition
  bool started = false;
  RankRuns arrived;
};

std::string stage_name(Rank rank, std::size_t stage) {
  return "rank " + std::to_string(rank) + ", stage " + std::to_string(stage);
}

class Execution {
 public:
  explicit Execution(const Schedule& schedule) : schedule_(schedule), ranks_(schedule.shape.ranks) {
    for (const RankPart& part : schedule.ranks) states_.emplace_back(part.stages.size());
    for (Rank rank = 0; rank < ranks_; ++rank) data_.emplace_back(schedule.shape, rank);
    arrived_.resize(ranks_);
  }

  Validation run() {
    if (!check_form()) return {false, error_};
    for (Rank rank = 0; rank < ranks_; ++rank) runnable_.push_back(rank);
    while (!runnable_.empty() && error_.empty()) {
      const Rank rank = runnable_.front();
      runnable_.pop_front();
      while (error_.empty() && advance(rank)) {
      }
    }
    if (error_.empty()) check_end();
    if (!error_.empty()) return {false, error_};
    const bool reduces = combines(schedule_.shape.operation);
    return {true, proof(), !reduces || same_bits(), !reduces || keeps_order()};
  }

 private:
  using MessageKey = std::tuple<Rank, Rank, std::uint8_t>;  // to, from, the receiver's stage

  bool fail(std::string error) {
    if (error_.empty()) error_ = std::move(error);
    return false;
  }
  bool is_barrier() const { return schedule_.shape.operation == Operation::kBarrier; }

  // -- what can be seen without executing
  bool check_form() {
    if (schedule_.ranks.size() != ranks_ || ranks_ == 0) return fail("the number of ranks differs from the shape's");
    for (Rank rank = 0; rank < ranks_; ++rank)
      for (std::size_t i = 0; i < part(rank).stages.size(); ++i)
        if (!check_stage(rank, i)) return false;
    return true;
  }

  bool check_stage(Rank rank, std::size_t index) {
    const RankPart& p = part(rank);
    const Stage& stage = p.stages[index];
    if (std::uint64_t{stage.first_transfer} + stage.receives + stage.sends > p.transfers.size())
      return fail(stage_name(rank, index) + " has transfers outside of the schedule");
    if (stage.after != kNoStage && stage.after >= p.stages.size())
      return fail(stage_name(rank, index) + " comes after a stage that does not exist");
    std::vector<Rank> sources;
    for (const Transfer& t : p.view().receives(stage)) sources.push_back(Rank{t.peer});
    std::ranges::sort(sources);
    if (std::ranges::adjacent_find(sources) != sources.end())
      return fail(stage_name(rank, index) + " receives from one rank twice: the messages could not be told apart");
    for (const Transfer& t : p.view().receives(stage))
      if (t.stage != index) return fail(stage_name(rank, index) + " receives a message of another stage");
    for (std::uint32_t i = 0; i < stage.receives + stage.sends; ++i) {
      const Rank peer = p.transfers[stage.first_transfer + i].peer;
      if (peer >= ranks_ || peer == rank) return fail(stage_name(rank, index) + " names an impossible peer");
    }
    return true;
  }

  // -- execution
  // Takes one step of one of the rank's stages; false if none can.
  bool advance(Rank rank) {
    for (std::size_t i = 0; i < part(rank).stages.size(); ++i)
      if (advance_stage(rank, i)) return true;
    return false;
  }

  bool advance_stage(Rank rank, std::size_t index) {
    const Stage& stage = part(rank).stages[index];
    CheckedStage& state = states_[rank][index];
    if (state.repetition == stage.repeat || !start(rank, index)) return false;
    const auto receives = part(rank).view().receives(stage);
    if (state.received < receives.size()) return take(rank, index, receives[state.received]);
    for (const Transfer& t : part(rank).view().sends(stage))
      if (!send(rank, index, t)) return false;
    state.received = 0;
    ++state.repetition;
    return true;
  }

  // A stage knows what the stage before it knew, and the local call if it waits for that.
  bool start(Rank rank, std::size_t index) {
    const Stage& stage = part(rank).stages[index];
    CheckedStage& state = states_[rank][index];
    if (state.started) return true;
    if (stage.after != kNoStage) {
      const CheckedStage& before = states_[rank][stage.after];
      if (before.repetition != part(rank).stages[stage.after].repeat) return false;
      state.arrived = before.arrived;
    }
    if (stage.waits_for_arrival) {
      state.arrived.insert(rank);
      if (!arrived_[rank]) data_[rank].arrive();
      arrived_[rank] = true;
    }
    return state.started = true;
  }

  bool take(Rank rank, std::size_t index, const Transfer& from) {
    const auto waiting = in_flight_.find({rank, Rank{from.peer}, static_cast<std::uint8_t>(index)});
    if (waiting == in_flight_.end()) return false;
    const CheckedMessage message = std::move(waiting->second.front());
    waiting->second.pop_front();
    if (waiting->second.empty()) in_flight_.erase(waiting);
    if (message.data.carries != from.carries)
      return fail(stage_name(rank, index) + " is sent something else than it waits for");
    CheckedStage& state = states_[rank][index];
    state.arrived.insert(message.arrived);
    ++state.received;
    const std::string wrong = data_[rank].take(from, message.data);
    return wrong.empty() || fail(stage_name(rank, index) + " " + wrong);
  }

  bool send(Rank rank, std::size_t index, const Transfer& to) {
    const CheckedStage& state = states_[rank][index];
    CheckedMessage message;
    message.arrived = state.arrived;
    const std::string wrong = data_[rank].give(to, state.repetition, message.data);
    if (!wrong.empty()) return fail(stage_name(rank, index) + " " + wrong);
    in_flight_[{Rank{to.peer}, rank, to.stage}].push_back(std::move(message));
    runnable_.push_back(Rank{to.peer});
    return true;
  }

  // -- the end
  void check_end() {
    for (Rank rank = 0; rank < ranks_ && error_.empty(); ++rank) check_rank_end(rank);
    if (!error_.empty() || in_flight_.empty()) return;
    const auto& [to, from, stage] = in_flight_.begin()->first;
    fail("rank " + std::to_string(from) + " sends to " + stage_name(to, stage) + ", which does not receive it");
  }

  void check_rank_end(Rank rank) {
    RankRuns arrived;
    for (std::size_t i = 0; i < part(rank).stages.size(); ++i) {
      if (states_[rank][i].repetition != part(rank).stages[i].repeat) {
        fail(stage_name(rank, i) + " waits for ever" + waits_for(rank, i));
        return;
      }
      arrived.insert(states_[rank][i].arrived);
    }
    if (is_barrier() && !arrived.is_all(ranks_))
      fail("rank " + std::to_string(rank) + " can be released before rank " + std::to_string(arrived.first_missing()) +
           " has arrived");
    const std::string wrong = data_[rank].judge();
    if (!wrong.empty()) fail("rank " + std::to_string(rank) + " " + wrong);
  }

  bool same_bits() const {
    const auto result = [&](const RankData& d) { return d.expression(); };
    if (schedule_.shape.operation == Operation::kReduce) return true;  // one rank has it
    return std::ranges::all_of(data_, [&](const RankData& d) { return result(d) == result(data_[0]); });
  }
  bool keeps_order() const { return std::ranges::all_of(data_, &RankData::keeps_order); }

  std::string waits_for(Rank rank, std::size_t index) const {
    const Stage& stage = part(rank).stages[index];
    const CheckedStage& state = states_[rank][index];
    if (!state.started) return " for its stage " + std::to_string(stage.after);
    return " for rank " + std::to_string(part(rank).view().receives(stage)[state.received].peer);
  }

  std::string proof() const {
    const std::string ranks = std::to_string(ranks_) + (ranks_ == 1 ? " rank" : " ranks");
    const std::string common = ranks + ": each send has its receive, no deadlock, ";
    switch (schedule_.shape.operation) {
      case Operation::kBarrier: return common + "no rank can be released before all have arrived";
      case Operation::kMulticast:
        return common + "each rank gets each of " + std::to_string(schedule_.shape.segments()) +
               " segments once and in order";
      case Operation::kReduce:
      case Operation::kAllreduce: return common + "each contribution is in the result exactly once";
      default: return common + "each rank ends with the blocks it is promised";
    }
  }

  const RankPart& part(Rank rank) const { return schedule_.ranks[rank]; }

  const Schedule& schedule_;
  Rank ranks_;
  std::vector<std::vector<CheckedStage>> states_;
  std::vector<RankData> data_;
  std::vector<bool> arrived_;
  std::map<MessageKey, std::deque<CheckedMessage>> in_flight_;
  std::deque<Rank> runnable_;
  std::string error_;
};

}  // namespace

Validation validate(const Schedule& schedule) { return Execution(schedule).run(); }

}  // namespace fibocast
