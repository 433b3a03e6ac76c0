#include "collectives/engine.h"

#include <algorithm>

#include "collectives/check.h"

namespace fibocast {

namespace {

// A schedule of shares depends on how many elements there are; the others do not.
bool same_elements(const OperationShape& a, const OperationShape& b) {
  return !is_of_shares(a.operation) || (a.total_bytes == b.total_bytes && a.type == b.type);
}

bool same_schedule(const Engine::Run& run, const OperationShape& shape, Rank me) {
  return run.stages != 0 && run.me == me && run.shape.operation == shape.operation &&
         run.shape.choice == shape.choice && run.shape.ranks == shape.ranks &&
         run.shape.segments() == shape.segments() && same_elements(run.shape, shape);
}

// The message's data is where it belongs as soon as it is here.
bool is_trivial(const Transfer& t) {
  const bool stored = t.carries == Carries::kBlocks && t.on_receive == OnReceive::kStore;
  return t.carries == Carries::kToken || t.carries == Carries::kPayload || stored;
}

}  // namespace

RankSchedule Engine::schedule(std::uint32_t run) const {
  return {memory_.stages.subspan(std::size_t{run} * limits_.stages, memory_.runs[run].stages),
          memory_.transfers.subspan(std::size_t{run} * limits_.transfers, limits_.transfers)};
}

bool Engine::build(std::uint32_t run, const Plan& plan, const OperationShape& shape, Rank me) {
  ScheduleWriter writer(memory_.stages.subspan(std::size_t{run} * limits_.stages, limits_.stages),
                        memory_.transfers.subspan(std::size_t{run} * limits_.transfers, limits_.transfers));
  if (!build_rank_schedule(plan, shape, me, writer) || !writer.ok()) return false;
  Run& r = memory_.runs[run];
  r.me = me;
  r.stages = static_cast<std::uint32_t>(writer.schedule().stages.size());
  return true;
}

bool Engine::open(std::uint32_t run, const Plan& plan, const OperationShape& shape, Rank me) {
  Run& r = memory_.runs[run];
  if (!same_schedule(r, shape, me) && !build(run, plan, shape, me)) {
    r.stages = 0;
    return false;
  }
  begin(run, shape);
  return true;
}

void Engine::open_written(std::uint32_t run, const OperationShape& shape, std::uint32_t stages) {
  Run& r = memory_.runs[run];
  r.me = kNoRank;  // open() never takes it for a plan's
  r.stages = stages;
  begin(run, shape);
}

void Engine::begin(std::uint32_t run, const OperationShape& shape) {
  Run& r = memory_.runs[run];
  r.shape = shape;
  r.open_stages = r.stages;
  r.waiting = 0;
  r.latest_not_before = 0;
  r.arrived = r.combines = false;
  const RankSchedule s = schedule(run);
  for (std::uint32_t i = 0; i < r.stages; ++i) {
    progress(run)[i] = StageProgress{};
    r.waiting += s.stages[i].receives * s.stages[i].repeat;
    r.latest_not_before = std::max(r.latest_not_before, s.stages[i].not_before);
    for (std::uint32_t k = 0; k < s.stages[i].receives; ++k) {
      counts(run)[s.stages[i].first_transfer + k] = 0;
      r.combines = r.combines || !is_trivial(s.transfers[s.stages[i].first_transfer + k]);
    }
  }
  end_stages(run);
}

void Engine::arrive(std::uint32_t run) {
  memory_.runs[run].arrived = true;
  end_stages(run);
}

std::uint32_t Engine::find_receive(std::uint32_t run, Rank source, std::uint8_t stage) const {
  const RankSchedule s = schedule(run);
  if (stage >= s.stages.size()) return kNone;
  const Stage& st = s.stages[stage];
  for (std::uint32_t k = 0; k < st.receives; ++k)
    if (s.transfers[st.first_transfer + k].peer == source) return st.first_transfer + k;
  return kNone;
}

Engine::Receipt Engine::receive(std::uint32_t run, std::uint32_t index, std::uint32_t repetition) {
  const RankSchedule s = schedule(run);
  std::uint32_t stage = 0;
  while (stage < s.stages.size() && !(index >= s.stages[stage].first_transfer &&
                                      index - s.stages[stage].first_transfer < s.stages[stage].receives))
    ++stage;
  if (stage == s.stages.size()) return Receipt::kUnexpected;
  std::uint32_t& count = counts(run)[index];
  if (repetition < count) return Receipt::kDuplicate;
  if (repetition != count || count == s.stages[stage].repeat) return Receipt::kUnexpected;
  ++count;
  --memory_.runs[run].waiting;
  advance(run, stage);
  return Receipt::kAccepted;
}

bool Engine::started(std::uint32_t run, std::uint32_t stage) const {
  const Stage& st = schedule(run).stages[stage];
  if (st.waits_for_arrival && !memory_.runs[run].arrived) return false;
  return st.after == kNoStage || progress(run)[st.after].ended;
}

// All that this repetition waits for is in and combined.
bool Engine::may_send(std::uint32_t run, std::uint32_t stage) const {
  const StageProgress& p = progress(run)[stage];
  return !p.ended && p.combined == schedule(run).stages[stage].receives && started(run, stage);
}

// The next of its receives in order is in.
bool Engine::may_combine(std::uint32_t run, std::uint32_t stage) const {
  const StageProgress& p = progress(run)[stage];
  const Stage& st = schedule(run).stages[stage];
  if (p.ended || p.combined == st.receives) return false;
  return counts(run)[st.first_transfer + p.combined] > p.repetition && started(run, stage);
}

bool Engine::next_combine(std::uint32_t run, Send& out) const {
  if (!memory_.runs[run].combines) return false;
  const RankSchedule s = schedule(run);
  for (std::uint32_t i = 0; i < s.stages.size(); ++i) {
    if (!may_combine(run, i)) continue;
    const std::uint32_t index = s.stages[i].first_transfer + progress(run)[i].combined;
    out = Send{s.transfers[index], index, i, progress(run)[i].repetition};
    return true;
  }
  return false;
}

void Engine::commit_combine(std::uint32_t run) {
  Send combine;
  check(next_combine(run, combine));
  ++progress(run)[combine.stage].combined;
  advance(run, combine.stage);
}

// The first stage that has something to send; kNone: there is none.
std::uint32_t Engine::sending_stage(std::uint32_t run) const {
  const RankSchedule s = schedule(run);
  for (std::uint32_t i = 0; i < s.stages.size(); ++i)
    if (progress(run)[i].sent != s.stages[i].sends && may_send(run, i)) return i;
  return kNone;
}

bool Engine::next_send(std::uint32_t run, Send& out) const {
  const std::uint32_t i = sending_stage(run);
  if (i == kNone) return false;
  const RankSchedule s = schedule(run);
  const std::uint32_t index = s.stages[i].first_transfer + s.stages[i].receives + progress(run)[i].sent;
  out = Send{s.transfers[index], index, i, progress(run)[i].repetition, s.stages[i].not_before};
  return true;
}

void Engine::commit_send(std::uint32_t run, const Send& send) {
  StageProgress& p = progress(run)[send.stage];
  check(!p.ended && p.repetition == send.repetition && p.sent != schedule(run).stages[send.stage].sends);
  ++p.sent;
  advance(run, send.stage);
}

// Goes on with the next repetition of `stage` as long as the one under way is through; true if the stage ends by that.
bool Engine::end_repetitions(std::uint32_t run, std::uint32_t stage) {
  StageProgress& p = progress(run)[stage];
  if (p.ended || !started(run, stage)) return false;
  const RankSchedule s = schedule(run);
  const Stage& st = s.stages[stage];
  const auto is_done_with = [&](std::uint32_t index) {
    return counts(run)[index] > p.repetition && is_trivial(s.transfers[index]);
  };
  while (!p.ended) {
    while (p.combined < st.receives && is_done_with(st.first_transfer + p.combined)) ++p.combined;
    if (p.combined != st.receives || p.sent != st.sends) return false;
    ++p.repetition;
    p.sent = p.combined = 0;
    p.ended = p.repetition == st.repeat;
  }
  --memory_.runs[run].open_stages;
  return true;
}

// Something of this stage has happened. Others move only when it ends.
void Engine::advance(std::uint32_t run, std::uint32_t stage) {
  if (end_repetitions(run, stage) && !finished(run)) end_stages(run);
}

void Engine::end_stages(std::uint32_t run) {
  const std::uint32_t stages = memory_.runs[run].stages;
  for (bool moved = true; moved && !finished(run);) {
    moved = false;
    for (std::uint32_t i = 0; i < stages; ++i) moved = end_repetitions(run, i) || moved;
  }
}

}  // namespace fibocast
