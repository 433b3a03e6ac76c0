// Whose frame is next: of small messages and of what goes through sockets each peer has one in turn, of payloads that
// lie in shared memory several.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "runtime/node/node.h"

namespace fibocast {
namespace {

constexpr NodeId kThree = 3;
constexpr std::uint32_t kFragmentBytes = 1000;

// Three nodes that hand each other their frames.
class Trio {
 public:
  explicit Trio(bool by_reference) {
    for (NodeId self = 0; self < kThree; ++self) {
      memory_[self].reset(new std::byte[Node::bytes_needed(limits_)]);
      NodeSettings settings;
      settings.self = self, settings.nodes = kThree, settings.incarnation = 256 * (1 + self);
      settings.fragment_bytes = kFragmentBytes, settings.by_reference = by_reference;
      nodes_[self] =
          std::make_unique<Node>(limits_, settings, std::span(memory_[self].get(), Node::bytes_needed(limits_)));
      nodes_[self]->start(now_);
    }
    while (exchange(nullptr)) continue;
  }
  // To whom node 0 sends the fragments of a multicast, in order.
  std::vector<NodeId> fragments_of_multicast(std::uint64_t bytes) {
    Node& root = *nodes_[0];
    Call call;
    EXPECT_EQ(root.open_group("all", 0, call.group, generation_), Admission::kTaken);
    call.operation = Operation::kMulticast, call.generation = generation_, call.deadline = now_ + 1'000'000'000;
    call.payload = {root.reserve_buffer(bytes).value(), 0, bytes};
    EXPECT_EQ(root.call(call, now_), Admission::kTaken);
    std::vector<NodeId> fragments;
    while (exchange(&fragments)) continue;
    return fragments;
  }

 private:
  // Every node's frames of now reach the others, but payloads, whose receivers are noted. False: there was none.
  bool exchange(std::vector<NodeId>* payloads) {
    std::vector<Transmit> all;
    for (NodeId self = 0; self < kThree; ++self)
      for (const Transmit& frame : drain(self)) all.push_back(frame);
    for (const Transmit& frame : all)
      frame.payload.length > 0 ? payloads->push_back(frame.to) : void(nodes_[frame.to]->on_datagram(frame.head, now_));
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
  std::array<std::unique_ptr<std::byte[]>, kThree> memory_;
  std::array<std::unique_ptr<Node>, kThree> nodes_;
  std::array<std::byte, kMaxHeadBytes> scratch_{};
  std::vector<std::vector<std::byte>> heads_;
  Generation generation_ = 0;
};

TEST(TransmitOrder, WhatLiesInSharedMemoryGoesToOneAfterTheOther) {
  EXPECT_EQ(Trio(true).fragments_of_multicast(4 * kFragmentBytes), (std::vector<NodeId>{1, 1, 1, 1, 2, 2, 2, 2}));
}

TEST(TransmitOrder, OfWhatGoesThroughSocketsEachHasOneInTurn) {
  EXPECT_EQ(Trio(false).fragments_of_multicast(4 * kFragmentBytes), (std::vector<NodeId>{1, 2, 1, 2, 1, 2, 1, 2}));
}

}  // namespace
}  // namespace fibocast
