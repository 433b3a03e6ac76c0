#include "collectives/predict_hosts.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <tuple>
#include <vector>

namespace fibocast {
namespace {

using Time = std::uint64_t;

// Of messages that leave together only the first costs a send; each other takes a sixth of one, as long as they are
// short. Measured with 16 to 64 nodes (transport/fan_out.h).
constexpr Time kShareOfFanOut = 6;
constexpr std::uint64_t kMostBytesOfFanOut = 256;

struct Message {
  Rank source = 0;
  std::uint8_t stage = 0;
  std::uint64_t bytes = 0;
};

struct StageState {
  bool started = false;
  std::uint32_t repetition = 0;
  std::vector<std::pair<Rank, std::uint32_t>> through;  // of each receive: the source and how many have come
};

struct NodeState {
  std::vector<StageState> stages;
  std::size_t running = 0;  // stages that have not ended
  std::deque<Message> inbox;
  bool idle = true;  // neither in the queue of its host nor on a processor
};

struct HostState {
  std::uint32_t free = 0;  // processors
  std::deque<Rank> queue;
};

// What happens to a node: it is called, gets a message, or has a processor and goes on. In the order of time, then as
// it was entered.
struct HostEvent {
  enum Kind : std::uint8_t { kCalled, kArrived, kGoesOn } kind;
  Time time = 0;
  std::uint64_t order = 0;
  Rank rank = 0;
  Message message = {};

  bool operator>(const HostEvent& other) const { return std::tie(time, order) > std::tie(other.time, other.order); }
};

class HostEvaluation {
 public:
  HostEvaluation(const Schedule& schedule, const CostModel& model, const HostSharing& hosts)
      : schedule_(schedule), model_(model), sharing_(hosts), nodes_(schedule.ranks.size()) {
    hosts_.resize(nodes_.size() / sharing_.nodes + 1, {sharing_.processors, {}});
    for (Rank rank = 0; rank < nodes_.size(); ++rank) prepare(rank);
  }

  std::optional<Time> run() {
    while (!events_.empty()) {
      const HostEvent event = events_.top();
      events_.pop();
      handle(event);
    }
    const bool ended = std::ranges::all_of(nodes_, [](const NodeState& node) { return node.running == 0; });
    return ended ? std::optional(completion_) : std::nullopt;
  }

 private:
  void prepare(Rank rank) {
    NodeState& node = nodes_[rank];
    const RankPart& part = schedule_.ranks[rank];
    bool called = false;
    for (const Stage& stage : part.stages) {
      StageState& state = node.stages.emplace_back();
      state.started = stage.after == kNoStage;
      for (const Transfer& t : part.view().receives(stage)) state.through.emplace_back(Rank{t.peer}, 0);
      called = called || stage.waits_for_arrival;
    }
    node.running = part.stages.size();
    if (called) enter(HostEvent::kCalled, 0, rank);
  }

  void enter(HostEvent::Kind kind, Time time, Rank rank, Message message = {}) {
    events_.push({kind, time, ++order_, rank, message});
  }

  HostState& host_of(Rank rank) { return hosts_[rank / sharing_.nodes]; }

  void handle(const HostEvent& event) {
    if (event.kind == HostEvent::kGoesOn) return go_on(event.rank, event.time);
    NodeState& node = nodes_[event.rank];
    if (event.kind == HostEvent::kArrived) node.inbox.push_back(event.message);
    if (!node.idle) return;
    node.idle = false;
    host_of(event.rank).queue.push_back(event.rank);
    serve(host_of(event.rank), event.time);
  }

  void serve(HostState& host, Time now) {
    for (; host.free > 0 && !host.queue.empty(); host.queue.pop_front(), --host.free)
      enter(HostEvent::kGoesOn, now + model_.wake, host.queue.front());
  }

  // One message, and what it allows; with none left the processor is given back.
  void go_on(Rank rank, Time now) {
    NodeState& node = nodes_[rank];
    Time until = now;
    if (!node.inbox.empty()) {
      until += receive(rank, node.inbox.front());
      node.inbox.pop_front();
    }
    const std::size_t before = node.running;
    until = run_stages(rank, until);
    if (before > 0 && node.running == 0) {
      completion_ = std::max(completion_, until);
      until += model_.wake;
    }
    if (until > now || !node.inbox.empty()) return enter(HostEvent::kGoesOn, until, rank);
    node.idle = true;
    ++host_of(rank).free;
    serve(host_of(rank), now);
  }

  Time receive(Rank rank, const Message& message) {
    if (message.stage < nodes_[rank].stages.size())
      for (auto& [source, through] : nodes_[rank].stages[message.stage].through)
        if (source == message.source) ++through;
    return model_.occupancy + message.bytes * model_.occupancy_per_byte;
  }

  // Runs each stage as often as it has all it waits for; the end of one may start others.
  Time run_stages(Rank rank, Time now) {
    const RankPart& part = schedule_.ranks[rank];
    NodeState& node = nodes_[rank];
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = 0; i < part.stages.size(); ++i) {
        while (may_run(node.stages[i], part.stages[i])) now = run_stage(rank, i, now), again = true;
      }
    }
    return now;
  }

  static bool may_run(const StageState& state, const Stage& stage) {
    return state.started && state.repetition < stage.repeat &&
           std::ranges::all_of(state.through, [&](const auto& t) { return t.second > state.repetition; });
  }

  Time run_stage(Rank rank, std::size_t index, Time now) {
    const RankPart& part = schedule_.ranks[rank];
    NodeState& node = nodes_[rank];
    StageState& state = node.stages[index];
    bool others_leave = false;
    for (const Transfer& t : part.view().sends(part.stages[index])) {
      const std::uint64_t bytes = transfer_bytes(schedule_.shape, t, state.repetition);
      const bool together = others_leave && sharing_.fans_out && bytes <= kMostBytesOfFanOut &&
                            rank / sharing_.nodes == t.peer / sharing_.nodes;
      now += (together ? model_.send / kShareOfFanOut : model_.send) + bytes * model_.send_per_byte;
      others_leave = true;
      enter(HostEvent::kArrived, now + model_.latency, t.peer, {rank, t.stage, bytes});
    }
    if (++state.repetition < part.stages[index].repeat) return now;
    --node.running;
    for (std::size_t i = 0; i < part.stages.size(); ++i)
      if (part.stages[i].after == index) node.stages[i].started = true;
    return now;
  }

  const Schedule& schedule_;
  const CostModel& model_;
  const HostSharing& sharing_;
  std::vector<NodeState> nodes_;
  std::vector<HostState> hosts_;
  std::priority_queue<HostEvent, std::vector<HostEvent>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  Time completion_ = 0;
};

}  // namespace

std::optional<std::uint64_t> predict_on_hosts(const Schedule& schedule, const CostModel& model,
                                              const HostSharing& hosts) {
  return HostEvaluation(schedule, model, hosts).run();
}

}  // namespace fibocast
