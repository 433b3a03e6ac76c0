#include "tests/bench/hot_paths.h"

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>

#include "collectives/cost_model.h"
#include "collectives/engine.h"
#include "collectives/tree_fibo.h"
#include "runtime/node/node.h"
#include "transport/reliable_channel.h"

namespace fibocast {
namespace {

constexpr CostModel kManna{.send = 27'000, .latency = 0, .occupancy = 88'000};
constexpr Nanoseconds kStep = 100'000;  // between two messages

void require(bool holds) {
  if (!holds) std::abort();
}

// A frame of a barrier: written, and read again.
class FramePath {
 public:
  void once() {
    Frame frame;
    frame.type = FrameType::kDataSmall;
    frame.counter = ++counter_, frame.sequence = counter_;
    frame.from = 1, frame.to = 0;
    frame.body = body_;
    const std::size_t bytes = encode_frame_head(frame, head_);
    const auto read = decode_frame(std::span(head_).first(bytes));
    require(read && read->sequence == counter_);
  }

 private:
  std::uint64_t counter_ = 0;
  std::array<std::byte, 40> body_{};
  std::array<std::byte, kMaxHeadBytes> head_{};
};

// A small message from one channel to another, and what acknowledges it.
class ChannelPath {
 public:
  ChannelPath() {
    for (NodeId self : {0u, 1u}) {
      memory_[self].resize(ReliableChannel::bytes_needed(kLimits) / sizeof(std::max_align_t) + 1);
      const ChannelSettings settings{.self = self, .peer = 1 - self, .incarnation = 100 + self};
      sides_[self].emplace(kLimits, settings, std::as_writable_bytes(std::span(memory_[self])),
                           ReadyFlag(ready_[self], 0));
      sides_[self]->connect(now_);
    }
    exchange();
    require(sides_[0]->state() == ChannelState::kConnected && sides_[1]->state() == ChannelState::kConnected);
  }
  void once() {
    now_ += kStep;
    const std::uint64_t before = delivered_;
    sides_[0]->send_small(body_, {}, true, now_);
    exchange();
    require(delivered_ == before + 1);
  }

 private:
  static constexpr ChannelLimits kLimits{};

  void exchange() {
    for (bool moved = true; moved;) {
      moved = false;
      for (NodeId from : {0u, 1u}) {
        if (sides_[from]->next_deadline() <= now_) sides_[from]->on_timer(now_);
        for (Transmit out; sides_[from]->poll_transmit(now_, scratch_, out); moved = true) hear(1 - from, out.head);
      }
    }
  }
  void hear(NodeId self, std::span<const std::byte> bytes) {
    const auto frame = decode_frame(bytes);
    require(frame.has_value());
    sides_[self]->on_frame(*frame, now_);
    for (Delivery d; sides_[self]->poll_delivery(d);) delivered_ += d.kind == Delivery::Kind::kSmall;
  }

  Nanoseconds now_ = 1'000'000'000;
  std::vector<std::max_align_t> memory_[2];
  std::uint64_t ready_[2] = {};
  std::optional<ReliableChannel> sides_[2];
  std::array<std::byte, 40> body_{};
  std::array<std::byte, kMaxHeadBytes> scratch_{};
  std::uint64_t delivered_ = 0;
};

// A barrier of 16 ranks: the engines of all, without messages between them.
class EnginePath {
 public:
  void once() {
    for (Rank me = 0; me < kRanks; ++me) {
      require(engine_.open(me, plan_, {.ranks = kRanks}, me));
      engine_.arrive(me);
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (Rank me = 0; me < kRanks; ++me)
        for (Engine::Send send; engine_.next_send(me, send); engine_.commit_send(me, send), moved = true)
          deliver(me, send);
    }
    for (Rank me = 0; me < kRanks; ++me) require(engine_.finished(me));
  }

 private:
  static constexpr Rank kRanks = 16;

  void deliver(Rank from, const Engine::Send& send) {
    const Rank to{send.transfer.peer};
    const auto index = engine_.find_receive(to, from, send.transfer.stage);
    require(engine_.receive(to, index, send.repetition) == Engine::Receipt::kAccepted);
  }

  const Limits limits_ = Limits::simulated();
  const Plan plan_ = fibo_plan(kManna);
  std::vector<Engine::Run> runs_{kRanks};
  std::vector<Stage> stages_{kRanks * limits_.stages};
  std::vector<Engine::StageProgress> progress_{kRanks * limits_.stages};
  std::vector<Transfer> transfers_{kRanks * limits_.transfers};
  std::vector<std::uint32_t> counts_ = std::vector<std::uint32_t>(kRanks * limits_.transfers);
  Engine engine_{limits_, {runs_, stages_, progress_, transfers_, counts_}};
};

// A barrier of whole nodes that hand each other their frames.
template <NodeId kNodes>
class NodesPath {
 public:
  NodesPath() {
    for (NodeId self = 0; self < kNodes; ++self) {
      memory_[self].reset(new std::byte[Node::bytes_needed(kLimits)]);
      NodeSettings settings;
      settings.self = self, settings.nodes = kNodes, settings.incarnation = 100 + self,
      settings.plan = fibo_plan(kManna);
      nodes_[self] =
          std::make_unique<Node>(kLimits, settings, std::span(memory_[self].get(), Node::bytes_needed(kLimits)));
      nodes_[self]->start(now_);
    }
    exchange();
    for (const auto& node : nodes_) {
      require(node->connected_peers() == kNodes - 1);
      require(node->open_group("all", 0, group_, generation_) == Admission::kTaken);
    }
  }
  void once() {
    now_ += kStep;
    const std::uint64_t before = done_;
    for (const auto& node : nodes_) {
      Call call;
      call.group = group_, call.generation = generation_, call.deadline = now_ + 1'000'000'000;
      require(node->call(call, now_) == Admission::kTaken);
    }
    exchange();
    ++generation_;
    require(done_ == before + kNodes);
  }

 private:
  static constexpr Limits kLimits = Limits::server();

  void exchange() {
    for (bool moved = true; moved;) {
      moved = false;
      for (NodeId self = 0; self < kNodes; ++self) moved = drain(self) || moved;
    }
  }
  bool drain(NodeId self) {
    Node& node = *nodes_[self];
    if (node.next_deadline() <= now_) node.on_timer(now_);
    bool moved = false;
    for (Event event; node.poll_event(event); moved = true)
      done_ += event.kind == Event::Kind::kCallDone && event.done.verdict == Verdict::kOk;
    for (Transmit out; node.poll_transmit(now_, scratch_, out); moved = true)
      nodes_[out.to]->on_datagram(out.head, now_);
    return moved;
  }

  Nanoseconds now_ = 1'000'000'000;
  std::unique_ptr<std::byte[]> memory_[kNodes];  // not written to before the node does
  std::unique_ptr<Node> nodes_[kNodes];
  std::array<std::byte, kMaxHeadBytes> scratch_{};
  GroupId group_ = 0;
  Generation generation_ = 0;
  std::uint64_t done_ = 0;
};

// One rank's part of a barrier of a million ranks, computed from nothing.
class SchedulePath {
 public:
  void once() {
    constexpr Rank kRanks = 1'000'000, kStride = 7919;
    rank_ = (rank_ + kStride) % kRanks;
    ScheduleWriter out(stages_, transfers_);
    require(build_rank_schedule(plan_, {.ranks = kRanks}, rank_, out));
  }

 private:
  const Plan plan_ = fibo_plan(kManna);
  Rank rank_ = 0;
  std::array<Stage, 8> stages_;
  std::array<Transfer, 768> transfers_;
};

void build_tree() { require(tree_fibo(1000, kManna.send, kManna.receive()).size() == 1000); }

template <class Path>
HotPath path(const char* name) {
  return {name, [path = std::make_shared<Path>()] { path->once(); }};
}

}  // namespace

std::vector<HotPath> hot_paths() {
  return {path<FramePath>("frame"),
          path<ChannelPath>("small_message"),
          path<EnginePath>("engine_barrier_16"),
          path<NodesPath<8>>("nodes_barrier_8"),
          path<NodesPath<64>>("nodes_barrier_64"),
          path<SchedulePath>("schedule_of_a_rank_in_1e6"),
          {"fibo_tree_1000", build_tree}};
}

}  // namespace fibocast
