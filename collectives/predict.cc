#include "collectives/predict.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace fibocast {
namespace {

using Time = std::uint64_t;

// In this order at equal time: what ends a receive may make a request, and receives go before sends.
enum class EventKind : std::uint8_t { kStageMayRun, kReceived, kReceiveRequest, kSendRequest };

struct Event {
  Time time = 0;
  EventKind kind = EventKind::kStageMayRun;
  Rank source = 0;
  std::uint8_t stage = 0;      // sends: of the sender; else of the receiver
  std::uint64_t sequence = 0;  // requests of one stage are served in the order in which they were made
  Rank rank = 0;               // where it happens
  std::uint32_t repetition = 0;
  const Transfer* transfer = nullptr;

  bool operator>(const Event& other) const {
    return std::tie(time, kind, source, stage, sequence) >
           std::tie(other.time, other.kind, other.source, other.stage, other.sequence);
  }
};

struct StageProgress {
  bool started = false;
  std::uint32_t repetition = 0;
  std::uint32_t missing = 0;                            // receives of this repetition that are not through
  std::vector<std::uint32_t> through;                   // per receive: how often
  std::vector<std::pair<Rank, std::uint32_t>> sources;  // sorted: which receive is from whom
};

class Evaluation {
 public:
  Evaluation(const Schedule& schedule, const CostModel& model) : schedule_(schedule), model_(model) {
    const std::size_t p = schedule.ranks.size();
    send_port_free_.assign(p, 0);
    receive_port_free_.assign(p, 0);
    progress_.resize(p);
    prediction_.stage_active.resize(p);
    for (Rank rank = 0; rank < p; ++rank) prepare(rank);
  }

  std::optional<Prediction> run() {
    while (!events_.empty() && !lost_message_) {
      const Event event = events_.top();
      events_.pop();
      handle(event);
    }
    if (lost_message_ || running_ > 0) return {};
    for (const auto& stages : prediction_.stage_active) {
      prediction_.active.push_back(stages.empty() ? 0 : *std::ranges::max_element(stages));
      prediction_.completion = std::max(prediction_.completion, prediction_.active.back());
    }
    return std::move(prediction_);
  }

 private:
  const Stage& stage_of(Rank rank, std::uint8_t index) const { return schedule_.ranks[rank].stages[index]; }

  void prepare(Rank rank) {
    const RankPart& part = schedule_.ranks[rank];
    prediction_.stage_active[rank].assign(part.stages.size(), 0);
    const auto count = static_cast<std::uint8_t>(part.stages.size());  // stages are numbered in 8 bits
    for (std::uint8_t i = 0; i < count; ++i) {
      const auto receives = part.view().receives(part.stages[i]);
      StageProgress progress;
      progress.missing = part.stages[i].receives;
      progress.through.assign(receives.size(), 0);
      for (std::uint32_t k = 0; k < receives.size(); ++k) progress.sources.emplace_back(receives[k].peer, k);
      std::ranges::sort(progress.sources);
      progress_[rank].push_back(std::move(progress));
      ++running_;
      if (part.stages[i].after == kNoStage) wake(rank, i, 0);
    }
  }

  void wake(Rank rank, std::uint8_t stage, Time now) {
    const auto earliest = static_cast<Time>(std::max<Nanoseconds>(stage_of(rank, stage).not_before, 0));
    events_.push({.time = std::max(now, earliest), .stage = stage, .sequence = ++sequence_, .rank = rank});
  }

  void handle(const Event& event) {
    switch (event.kind) {
      case EventKind::kStageMayRun:
        progress_[event.rank][event.stage].started = true;
        return run_stage(event.rank, event.stage, event.time);
      case EventKind::kReceived: return received(event);
      case EventKind::kReceiveRequest: return serve_receive(event);
      case EventKind::kSendRequest: return serve_send(event);
    }
  }

  void serve_send(Event event) {
    Time& free = send_port_free_[event.rank];
    free = std::max(free, event.time) + model_.send + bytes_of(event) * model_.send_per_byte;
    event.time = free + model_.latency;
    event.kind = EventKind::kReceiveRequest;
    event.rank = event.transfer->peer;
    event.stage = event.transfer->stage;
    events_.push(event);
  }

  void serve_receive(Event event) {
    const bool shared = model_.ports == Ports::kShared;
    Time& free = shared ? send_port_free_[event.rank] : receive_port_free_[event.rank];
    free = std::max(free, event.time) + model_.occupancy + bytes_of(event) * model_.occupancy_per_byte;
    event.time = free;
    event.kind = EventKind::kReceived;
    events_.push(event);
  }

  void received(const Event& event) {
    if (event.stage >= progress_[event.rank].size()) return lose();
    StageProgress& progress = progress_[event.rank][event.stage];
    const auto found = std::ranges::lower_bound(progress.sources, std::pair(event.source, 0u));
    if (found == progress.sources.end() || found->first != event.source) return lose();
    if (++progress.through[found->second] == progress.repetition + 1) --progress.missing;
    run_stage(event.rank, event.stage, event.time);
  }

  // Runs as many repetitions as have all they wait for.
  void run_stage(Rank rank, std::uint8_t index, Time now) {
    StageProgress& progress = progress_[rank][index];
    const Stage& stage = stage_of(rank, index);
    while (progress.started && progress.missing == 0 && progress.repetition < stage.repeat) {
      prediction_.stage_active[rank][index] = now;
      request_sends(rank, index, now);
      ++progress.repetition;
      const auto has_next = [&](std::uint32_t times) { return times > progress.repetition; };
      progress.missing = stage.receives - static_cast<std::uint32_t>(std::ranges::count_if(progress.through, has_next));
      if (progress.repetition == stage.repeat) end_stage(rank, index, now);
    }
  }

  void request_sends(Rank rank, std::uint8_t index, Time now) {
    for (const Transfer& t : schedule_.ranks[rank].view().sends(stage_of(rank, index)))
      events_.push({.time = now,
                    .kind = EventKind::kSendRequest,
                    .source = rank,
                    .stage = index,
                    .sequence = ++sequence_,
                    .rank = rank,
                    .repetition = progress_[rank][index].repetition,
                    .transfer = &t});
  }

  void end_stage(Rank rank, std::uint8_t index, Time now) {
    --running_;
    const std::vector<Stage>& stages = schedule_.ranks[rank].stages;
    const auto count = static_cast<std::uint8_t>(stages.size());
    for (std::uint8_t i = 0; i < count; ++i)
      if (stages[i].after == index) wake(rank, i, now);
  }

  Time bytes_of(const Event& event) const { return transfer_bytes(schedule_.shape, *event.transfer, event.repetition); }

  void lose() { lost_message_ = true; }

  const Schedule& schedule_;
  const CostModel& model_;
  std::vector<Time> send_port_free_;
  std::vector<Time> receive_port_free_;
  std::vector<std::vector<StageProgress>> progress_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t sequence_ = 0;
  std::uint64_t running_ = 0;
  bool lost_message_ = false;
  Prediction prediction_;
};

}  // namespace

std::optional<Prediction> predict(const Schedule& schedule, const CostModel& model) {
  return Evaluation(schedule, model).run();
}

}  // namespace fibocast
