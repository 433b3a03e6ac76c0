#include "collectives/predict.h"

#include <algorithm>
#include <queue>

#include "collectives/check.h"

namespace fibocast {
namespace {

using Time = std::uint64_t;

// In this order at equal time: what ends a receive may make a request, and receives go before sends.
enum class EventKind : std::uint8_t { kStageMayRun, kReceived, kReceiveRequest, kSendRequest };

// A message on its way, or a stage that may run. It keeps its place in memory until it is through.
struct Event {
  const Transfer* transfer = nullptr;
  std::uint64_t bytes = 0;
  Rank source = 0;
  Rank rank = 0;            // where it happens
  std::uint32_t chain = 0;  // messages in the longest chain up to this one
  EventKind kind = EventKind::kStageMayRun;
  std::uint8_t stage = 0;  // sends: of the sender; else of the receiver
};

// Small, because a heap moves them about.
struct Entry {
  Time time = 0;
  std::uint64_t key = 0;      // what decides at equal time: kind, source, stage
  std::uint32_t request = 0;  // requests of one stage are served in the order in which they were made
  std::uint32_t event = 0;

  bool operator>(const Entry& other) const {
    if (time != other.time) return time > other.time;
    return key != other.key ? key > other.key : request > other.request;
  }
};

struct StageProgress {
  bool started = false;
  std::uint32_t repetition = 0;
  std::uint32_t missing = 0;  // receives of this repetition that are not through
  std::uint32_t chain = 0;
};

// One receive of a stage and how often it is through.
struct Receive {
  Rank source = 0;
  std::uint32_t through = 0;
};

// Folded: one rank stands for all. What it sends it also receives, as every rank does at that time.
class Evaluation {
 public:
  Evaluation(std::span<const RankPart> ranks, const OperationShape& shape, const CostModel& model, bool folded = false)
      : ranks_(ranks), shape_(shape), model_(model), folded_(folded) {
    const std::size_t p = ranks.size();
    send_port_free_.assign(p, 0);
    receive_port_free_.assign(p, 0);
    first_stage_.reserve(p);
    first_receive_.reserve(p);
    prediction_.stage_active.resize(p);
    for (Rank rank = 0; rank < p; ++rank) prepare(rank);
  }

  std::optional<Prediction> run() {
    while (!queue_.empty() && !lost_message_) {
      const Entry entry = queue_.top();
      queue_.pop();
      handle(entry);
    }
    if (lost_message_ || running_ > 0) return {};
    for (const auto& stages : prediction_.stage_active) {
      prediction_.active.push_back(stages.empty() ? 0 : *std::ranges::max_element(stages));
      prediction_.completion = std::max(prediction_.completion, prediction_.active.back());
    }
    return std::move(prediction_);
  }

 private:
  const Stage& stage_of(Rank rank, std::uint8_t index) const { return ranks_[rank].stages[index]; }
  StageProgress& progress(Rank rank, std::uint8_t index) { return progress_[first_stage_[rank] + index]; }
  std::span<Receive> receives_of(Rank rank, const Stage& stage) {
    return std::span(receives_).subspan(first_receive_[rank] + stage.first_transfer, stage.receives);
  }

  void prepare(Rank rank) {
    const RankPart& part = ranks_[rank];
    first_stage_.push_back(progress_.size());
    first_receive_.push_back(receives_.size());
    for (const Transfer& t : part.transfers) receives_.push_back({t.peer, 0});
    prediction_.stage_active[rank].assign(part.stages.size(), 0);
    running_ += part.stages.size();
    for (const Stage& stage : part.stages) {
      progress_.push_back({.missing = stage.receives});
      std::ranges::sort(receives_of(rank, stage), {}, &Receive::source);
    }
    const auto count = static_cast<std::uint8_t>(part.stages.size());  // stages are numbered in 8 bits
    for (std::uint8_t i = 0; i < count; ++i)
      if (part.stages[i].after == kNoStage) wake(rank, i, 0);
  }

  void push_new(Time time, const Event& event) {
    if (free_events_.empty()) {
      free_events_.push_back(static_cast<std::uint32_t>(events_.size()));
      events_.emplace_back();
    }
    const std::uint32_t place = free_events_.back();
    free_events_.pop_back();
    events_[place] = event;
    push({.time = time, .request = ++requests_, .event = place});
  }

  void push(Entry entry) {
    const Event& event = events_[entry.event];
    entry.key =
        std::uint64_t{static_cast<std::uint8_t>(event.kind)} << 40 | std::uint64_t{event.source} << 8 | event.stage;
    queue_.push(entry);
  }

  void wake(Rank rank, std::uint8_t stage, Time now) {
    const auto earliest = static_cast<Time>(std::max<Nanoseconds>(stage_of(rank, stage).not_before, 0));
    push_new(std::max(now, earliest), {.rank = rank, .stage = stage});
  }

  void handle(const Entry& entry) {
    switch (events_[entry.event].kind) {
      case EventKind::kSendRequest: return serve_send(entry);
      case EventKind::kReceiveRequest: return serve_receive(entry);
      case EventKind::kReceived:
      case EventKind::kStageMayRun: break;
    }
    const Event event = events_[entry.event];
    free_events_.push_back(entry.event);
    if (event.kind == EventKind::kReceived) return received(event, entry.time);
    progress(event.rank, event.stage).started = true;
    run_stage(event.rank, event.stage, entry.time);
  }

  void serve_send(Entry entry) {
    Event& event = events_[entry.event];
    Time& free = send_port_free_[event.rank];
    free = std::max(free, entry.time) + model_.send + event.bytes * model_.send_per_byte;
    entry.time = free + model_.latency;
    if (!folded_) event.rank = event.transfer->peer;
    event.stage = event.transfer->stage;
    event.kind = EventKind::kReceiveRequest;
    push(entry);
  }

  void serve_receive(Entry entry) {
    Event& event = events_[entry.event];
    const bool shared = model_.ports == Ports::kShared;
    Time& free = shared ? send_port_free_[event.rank] : receive_port_free_[event.rank];
    free = std::max(free, entry.time) + model_.occupancy + event.bytes * model_.occupancy_per_byte;
    entry.time = free;
    event.kind = EventKind::kReceived;
    push(entry);
  }

  void received(const Event& event, Time now) {
    if (event.stage >= ranks_[event.rank].stages.size()) return lose();
    StageProgress& p = progress(event.rank, event.stage);
    const std::span<Receive> receives = receives_of(event.rank, stage_of(event.rank, event.stage));
    const auto found =
        folded_ ? receives.begin() : std::ranges::lower_bound(receives, event.source, {}, &Receive::source);
    if (found == receives.end() || (!folded_ && found->source != event.source)) return lose();
    if (folded_ || ++found->through == p.repetition + 1) --p.missing;
    p.chain = std::max(p.chain, event.chain);
    prediction_.rounds = std::max(prediction_.rounds, event.chain);
    run_stage(event.rank, event.stage, now);
  }

  // Runs as many repetitions as have all they wait for.
  void run_stage(Rank rank, std::uint8_t index, Time now) {
    StageProgress& p = progress(rank, index);
    const Stage& stage = stage_of(rank, index);
    while (p.started && p.missing == 0 && p.repetition < stage.repeat) {
      prediction_.stage_active[rank][index] = now;
      request_sends(rank, index, now);
      if (++p.repetition == stage.repeat) return end_stage(rank, index, now);
      const auto is_missing = [&](const Receive& r) { return r.through <= p.repetition; };
      p.missing = static_cast<std::uint32_t>(std::ranges::count_if(receives_of(rank, stage), is_missing));
    }
  }

  void request_sends(Rank rank, std::uint8_t index, Time now) {
    const StageProgress& p = progress(rank, index);
    for (const Transfer& t : ranks_[rank].view().sends(stage_of(rank, index)))
      push_new(now, {.transfer = &t,
                     .bytes = transfer_bytes(shape_, t, p.repetition),
                     .source = rank,
                     .rank = rank,
                     .chain = p.chain + 1,
                     .kind = EventKind::kSendRequest,
                     .stage = index});
  }

  void end_stage(Rank rank, std::uint8_t index, Time now) {
    --running_;
    const std::vector<Stage>& stages = ranks_[rank].stages;
    const auto count = static_cast<std::uint8_t>(stages.size());
    for (std::uint8_t i = 0; i < count; ++i) {
      if (stages[i].after != index) continue;
      progress(rank, i).chain = std::max(progress(rank, i).chain, progress(rank, index).chain);
      wake(rank, i, now);
    }
  }

  void lose() { lost_message_ = true; }

  const std::span<const RankPart> ranks_;
  const OperationShape& shape_;
  const CostModel& model_;
  const bool folded_;
  std::vector<Time> send_port_free_;
  std::vector<Time> receive_port_free_;
  std::vector<std::size_t> first_stage_;  // per rank: in progress_
  std::vector<StageProgress> progress_;
  std::vector<std::size_t> first_receive_;  // per rank: in receives_, which has a place for each transfer
  std::vector<Receive> receives_;           // of each stage: by source
  std::vector<Event> events_;
  std::vector<std::uint32_t> free_events_;  // places in events_
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::uint32_t requests_ = 0;
  std::uint64_t running_ = 0;
  bool lost_message_ = false;
  Prediction prediction_;
};

}  // namespace

std::optional<Prediction> predict(const Schedule& schedule, const CostModel& model) {
  return Evaluation(schedule.ranks, schedule.shape, model).run();
}

std::optional<Prediction> predict_symmetric(const RankPart& part, const OperationShape& shape, const CostModel& model) {
  for (const Stage& stage : part.stages) check(stage.repeat == 1);
  return Evaluation({&part, 1}, shape, model, true).run();
}

}  // namespace fibocast
