#include "runtime/node/flight_recorder.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "firmware_sim/virtual_cluster.h"

namespace fibocast {
namespace {

using Kind = FlightEvent::Kind;

TEST(FlightRecorder, KeepsTheLastEvents) {
  std::array<FlightEvent, 4> ring;
  FlightRecorder recorder(ring);
  for (std::uint64_t i = 0; i < 3; ++i) recorder.add({.at = 1, .value = i});
  EXPECT_EQ(recorder.first(), 0u);
  for (std::uint64_t i = 3; i < 10; ++i) recorder.add({.at = 1, .value = i});
  EXPECT_EQ(recorder.recorded(), 10u);
  EXPECT_EQ(recorder.first(), 6u);
  for (std::uint64_t i = 6; i < 10; ++i) EXPECT_EQ(recorder.event(i).value, i);
}

TEST(FlightRecorder, WithoutMemoryIsOff) {
  FlightRecorder recorder;
  recorder.add({});
  EXPECT_EQ(recorder.recorded(), 0u);
}

TEST(FlightRecorder, AChoiceGoesThroughOneNumber) {
  const AlgorithmChoice dissemination{Algorithm::kDissemination, {}, 300};
  const AlgorithmChoice kary{Algorithm::kTrees, TreeKind::kKary, 7};
  for (const AlgorithmChoice& choice : {dissemination, kary}) {
    AlgorithmChoice read;
    ElementType type{};
    CombineOperator op{};
    unpack_choice(pack_choice(choice, ElementType::kDouble, CombineOperator::kXor), read, type, op);
    EXPECT_EQ(read, choice);
    EXPECT_EQ(type, ElementType::kDouble);
    EXPECT_EQ(op, CombineOperator::kXor);
  }
}

ClusterSettings two_nodes(std::uint32_t events) {
  ClusterSettings settings;
  settings.nodes = 2;
  settings.limits.flight_events = events;
  return settings;
}

std::vector<FlightEvent> events_of(VirtualCluster& cluster, NodeId id) {
  const FlightRecorder& recorder = cluster.node(id).node().flight_recorder();
  std::vector<FlightEvent> events;
  for (std::uint64_t i = recorder.first(); i < recorder.recorded(); ++i) events.push_back(recorder.event(i));
  return events;
}

void run_barriers(VirtualCluster& cluster, Generation count) {
  for (Generation generation = 0; generation < count; ++generation) {
    std::uint64_t last = 0;
    for (NodeId id = 0; id < 2; ++id)
      last = cluster.barrier(id, cluster.open(id, "all").group, generation, kNever).cookie;
    ASSERT_TRUE(cluster.run_until(kNever, [&] { return cluster.answer(last) != nullptr; }));
  }
}

TEST(FlightRecorder, ABarrierIsAStory) {
  VirtualCluster cluster(two_nodes(64));
  cluster.run_until(1000);  // 0 means that something has not happened
  cluster.start_all();
  ASSERT_TRUE(cluster.connect_all());
  run_barriers(cluster, 1);
  std::vector<Kind> kinds;
  for (const FlightEvent& e : events_of(cluster, 1)) kinds.push_back(e.kind);
  const std::vector<Kind> expected = {Kind::kPeerUp,
                                      Kind::kGroupName,
                                      Kind::kGroupMembers,
                                      Kind::kGroupTree,
                                      Kind::kGroupTreeLatency,
                                      Kind::kGroupTree,
                                      Kind::kGroupTreeLatency,
                                      Kind::kGroup,
                                      Kind::kOpen,
                                      Kind::kSize,
                                      Kind::kCall,
                                      Kind::kSend,
                                      Kind::kReceive,
                                      Kind::kActivated,
                                      Kind::kVerdict};
  EXPECT_EQ(kinds, expected);
  EXPECT_EQ(events_of(cluster, 1).back().detail, static_cast<std::uint8_t>(Verdict::kOk));
}

// What is left of a long run begins in the middle, but says which group it is about.
TEST(FlightRecorder, AGroupIsDescribedAgainAfterAThousandGenerations) {
  VirtualCluster cluster(two_nodes(600));
  cluster.start_all();
  ASSERT_TRUE(cluster.connect_all());
  run_barriers(cluster, FlightRecorder::kSnapshotEvery + 50);
  std::vector<Generation> described;
  for (const FlightEvent& e : events_of(cluster, 0))
    if (e.kind == Kind::kGroup) described.push_back(e.generation);
  ASSERT_EQ(described.size(), 1u);
  EXPECT_EQ(described.front(), FlightRecorder::kSnapshotEvery);
}

}  // namespace
}  // namespace fibocast
