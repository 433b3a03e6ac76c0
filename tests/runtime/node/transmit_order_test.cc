// Whose frame is next: of small messages and of what goes through sockets each peer has one in turn, of payloads that
// lie in shared memory several. And which fragments may wait for each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "runtime/node/node.h"

namespace fibocast {
namespace {

constexpr std::uint32_t kFragmentBytes = 1000;

// Nodes that hand each other their frames.
class Ensemble {
 public:
  Ensemble(NodeId nodes, bool by_reference) : memory_(nodes), nodes_(nodes) {
    for (NodeId self = 0; self < nodes; ++self) {
      memory_[self].reset(new std::byte[Node::bytes_needed(limits_)]);
      NodeSettings settings;
      settings.self = self, settings.nodes = nodes, settings.incarnation = 256 * (1 + self);
      settings.fragment_bytes = kFragmentBytes, settings.by_reference = by_reference;
      for (std::size_t size = 0; size < kSizeClasses; ++size)
        set_choice(settings.plan, Operation::kMulticast, size,
                   {.algorithm = Algorithm::kTrees, .tree = TreeKind::kSequential});
      nodes_[self] =
          std::make_unique<Node>(limits_, settings, std::span(memory_[self].get(), Node::bytes_needed(limits_)));
      nodes_[self]->start(now_);
    }
    while (exchange(nullptr)) continue;
  }
  // Those of a multicast from node 0 to all others, in order.
  std::vector<Transmit> fragments_of_multicast(std::uint64_t bytes) {
    Node& root = *nodes_[0];
    Call call;
    EXPECT_EQ(root.open_group("all", 0, call.group, generation_), Admission::kTaken);
    call.operation = Operation::kMulticast, call.generation = generation_, call.deadline = now_ + 1'000'000'000;
    call.payload = {root.reserve_buffer(bytes).value(), 0, bytes};
    EXPECT_EQ(root.call(call, now_), Admission::kTaken);
    std::vector<Transmit> fragments;
    while (exchange(&fragments)) continue;
    return fragments;
  }

 private:
  // Every node's frames of now reach the others, but payloads, which are noted. False: there was none.
  bool exchange(std::vector<Transmit>* payloads) {
    std::vector<Transmit> all;
    for (NodeId self = 0; self < nodes_.size(); ++self)
      for (const Transmit& frame : drain(self)) all.push_back(frame);
    for (const Transmit& frame : all)
      frame.payload.length > 0 ? payloads->push_back(frame) : void(nodes_[frame.to]->on_datagram(frame.head, now_));
    return !all.empty();
  }
  // Frames with heads of their own.
  std::vector<Transmit> drain(NodeId self) {
    std::vector<Transmit> frames;
    for (Event event; nodes_[self]->poll_event(event);) continue;
    for (Transmit out; nodes_[self]->poll_transmit(now_, scratch_, out); frames.push_back(out)) {
      heads_.emplace_back(out.head.begin(), out.head.end());
      out.head = heads_.back();
    }
    return frames;
  }

  const Limits limits_ = Limits::simulated();
  const Nanoseconds now_ = 1'000'000'000;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::array<std::byte, kMaxHeadBytes> scratch_{};
  std::vector<std::vector<std::byte>> heads_;
  Generation generation_ = 0;
};

std::vector<NodeId> receivers(const std::vector<Transmit>& fragments) {
  std::vector<NodeId> all;
  for (const Transmit& fragment : fragments) all.push_back(fragment.to);
  return all;
}

TEST(TransmitOrder, WhatLiesInSharedMemoryGoesToOneAfterTheOther) {
  EXPECT_EQ(receivers(Ensemble(3, true).fragments_of_multicast(4 * kFragmentBytes)),
            (std::vector<NodeId>{1, 1, 1, 1, 2, 2, 2, 2}));
}

TEST(TransmitOrder, OfWhatGoesThroughSocketsEachHasOneInTurn) {
  EXPECT_EQ(receivers(Ensemble(3, false).fragments_of_multicast(4 * kFragmentBytes)),
            (std::vector<NodeId>{1, 2, 1, 2, 1, 2, 1, 2}));
}

TEST(TransmitOrder, FragmentsThatSeveralGetMayWaitForEachOther) {
  const auto may_wait = [](NodeId nodes) {
    const auto fragments = Ensemble(nodes, false).fragments_of_multicast(2 * kFragmentBytes);
    EXPECT_EQ(fragments.size(), 2 * (nodes - 1));
    return std::ranges::count_if(fragments, &Transmit::may_wait);
  };
  EXPECT_EQ(may_wait(3), 0);
  EXPECT_EQ(may_wait(4), 6);
  EXPECT_EQ(may_wait(6), 10);
}

}  // namespace
}  // namespace fibocast
