#include "firmware_sim/virtual_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace fibocast {
namespace {

VirtualNetwork::Datagram numbered(int number) { return {std::byte(number & 0xff), std::byte(number >> 8)}; }

int number_of(std::span<const std::byte> datagram) {
  return std::to_integer<int>(datagram[0]) | std::to_integer<int>(datagram[1]) << 8;
}

// What arrives when node 0 sends `count` numbered datagrams to node 1, all at once.
std::vector<int> deliver(const NetworkSettings& settings, std::uint64_t seed, int count,
                         const std::vector<Fault>& faults = {}) {
  EventQueue queue;
  VirtualNetwork network(queue, settings, 2, seed);
  for (const Fault& fault : faults) network.begin(fault);
  std::vector<int> arrived;
  network.set_receiver(1, [&](std::span<const std::byte> d) { arrived.push_back(number_of(d)); });
  for (int i = 0; i < count; ++i) network.send(0, 1, numbered(i));
  queue.run_until(1'000'000'000);
  return arrived;
}

TEST(VirtualNetwork, IsPerfectUnlessTold) {
  EventQueue queue;
  VirtualNetwork network(queue, {}, 2, 1);
  int arrived = 0;
  network.set_receiver(1, [&](std::span<const std::byte>) { ++arrived; });
  for (int i = 0; i < 100; ++i) network.send(0, 1, numbered(i));
  queue.run_until(0);  // no time passes
  EXPECT_EQ(arrived, 100);
}

TEST(VirtualNetwork, LosesDoublesAndReordersAsAsked) {
  const std::size_t left = deliver({}, 3, 10'000, {loss(0.2)}).size();
  EXPECT_NEAR(static_cast<double>(left), 8'000, 200);

  EXPECT_NEAR(static_cast<double>(deliver({}, 3, 10'000, {duplicates(0.1)}).size()), 11'000, 200);

  NetworkSettings jittery;
  jittery.jitter = 1'000;
  const std::vector<int> mixed = deliver(jittery, 3, 100);
  EXPECT_EQ(mixed.size(), 100u);
  EXPECT_FALSE(std::is_sorted(mixed.begin(), mixed.end()));
}

TEST(VirtualNetwork, TheSeedDecides) {
  NetworkSettings settings;
  settings.jitter = 500;
  const std::vector<Fault> faults = {loss(0.3)};
  EXPECT_EQ(deliver(settings, 5, 200, faults), deliver(settings, 5, 200, faults));
  EXPECT_NE(deliver(settings, 5, 200, faults), deliver(settings, 6, 200, faults));
}

TEST(VirtualNetwork, LinksHaveTheirLatencyAndFiltersTheirSay) {
  EventQueue queue;
  VirtualNetwork network(queue, {}, 2, 1);
  std::vector<Nanoseconds> times;
  network.set_receiver(1, [&](std::span<const std::byte>) { times.push_back(queue.now()); });
  network.set_latency(0, 1, 700);
  network.set_filter([](NodeId, NodeId, VirtualNetwork::Datagram& d) { return number_of(d) != 1; });
  for (int i = 0; i < 3; ++i) network.send(0, 1, numbered(i));
  queue.run_until(10'000);
  EXPECT_EQ(times, (std::vector<Nanoseconds>{700, 700}));
}

TEST(VirtualNetwork, APartitionLetsNothingThroughUntilItHeals) {
  EventQueue queue;
  VirtualNetwork network(queue, {}, 3, 1);
  std::vector<int> arrived[3];
  for (const NodeId id : {0, 1, 2})
    network.set_receiver(id, [&, id](std::span<const std::byte> d) { arrived[id].push_back(number_of(d)); });
  const auto everybody_sends = [&] {
    for (const NodeId from : {0, 1, 2})
      for (const NodeId to : {0, 1, 2})
        if (from != to) network.send(from, to, numbered(static_cast<int>(from)));
    queue.run_until(queue.now() + 1);
  };
  const Fault both{.kind = Fault::Kind::kPartition, .nodes = {0, 1}};
  network.begin(both);
  everybody_sends();
  network.heal(both);
  EXPECT_EQ(arrived[0], std::vector<int>{1});
  EXPECT_EQ(arrived[1], std::vector<int>{0});
  EXPECT_EQ(arrived[2], std::vector<int>{});
  const Fault one_way{.kind = Fault::Kind::kOneWay, .nodes = {2}};
  network.begin(one_way);
  everybody_sends();
  EXPECT_EQ(arrived[0], (std::vector<int>{1, 1}));
  EXPECT_EQ(arrived[2], (std::vector<int>{0, 1}));
  network.heal(one_way);
  everybody_sends();
  EXPECT_EQ(arrived[0], (std::vector<int>{1, 1, 1, 2}));
}

TEST(VirtualNetwork, NobodyListensAtANodeThatIsDown) {
  EventQueue queue;
  VirtualNetwork network(queue, {}, 2, 1);
  network.send(0, 1, numbered(1));
  queue.run_until(10);
  EXPECT_EQ(network.counters().delivered, 1u);
}

}  // namespace
}  // namespace fibocast
