#include "firmware_sim/firmware.h"

#include "firmware_sim/networks/ideal_network.h"
#include "tests/firmware_sim/simulated.h"

namespace fibocast {
namespace {

// What a hand-written schedule does on the ideal machine.
SimulationRun run(const Schedule& schedule, const NodeTable& nodes, Ticks latency = 0) {
  IdealNetwork network(schedule.shape.ranks, latency);
  return test::simulated(workload_of(schedule), nodes, network);
}

Schedule parsed(const std::string& text) {
  std::string error;
  const auto schedule = parse_schedule(text, error);
  EXPECT_TRUE(schedule) << error;
  return schedule.value_or(Schedule{});
}

// Two leaves and the root's own message to rank 1 meet at the root's port.
const char* const kFanIn =
    "schedule barrier ranks 3 bytes 0 segment 0 algorithm sequential\n"
    "rank 0\n"
    "  stage 0 after - repeat 1 not_before 0 waits_for_arrival\n"
    "    receive 1 token in stage 0\n"
    "    receive 2 token in stage 0\n"
    "  stage 1 after 0 repeat 1 not_before 0\n"
    "    send 1 token in stage 1\n"
    "    send 2 token in stage 1\n"
    "rank 1\n"
    "  stage 0 after - repeat 1 not_before 0 waits_for_arrival\n"
    "    send 0 token in stage 0\n"
    "  stage 1 after 0 repeat 1 not_before 0\n"
    "    receive 0 token in stage 1\n"
    "rank 2\n"
    "  stage 0 after - repeat 1 not_before 0 waits_for_arrival\n"
    "    send 0 token in stage 0\n"
    "  stage 1 after 0 repeat 1 not_before 0\n"
    "    receive 0 token in stage 1\n";

TEST(Firmware, A31ReceivesQueueAtThePort) {
  // Both arrive at 5 + 11 and are taken in until 16 + 2 * 7; then two sends.
  const SimulationRun r = run(parsed(kFanIn), {.kinds = {{.send = 5, .occupancy = 7}}}, 11);
  EXPECT_EQ(r.active, (std::vector<Ticks>{30, 30 + 5 + 11 + 7, 30 + 10 + 11 + 7}));
  EXPECT_EQ(r.messages, 4u);
}

TEST(Firmware, NodesHaveTheirOwnCosts) {
  // Rank 2 is three times as slow as the others.
  const NodeTable nodes{.kinds = {{.send = 5, .occupancy = 7}, {.send = 15, .occupancy = 21}}, .kind_of = {0, 0, 1}};
  const SimulationRun r = run(parsed(kFanIn), nodes);
  // In at 5 + 7 and at 15 + 7.
  EXPECT_EQ(r.active, (std::vector<Ticks>{22, 22 + 5 + 7, 22 + 10 + 21}));
}

TEST(Firmware, AStageWaitsForItsTime) {
  const char* text =
      "schedule multicast ranks 2 bytes 10 segment 0 algorithm sequential\n"
      "rank 0\n"
      "  stage 0 after - repeat 1 not_before 100 waits_for_arrival\n"
      "    send 1 payload in stage 0\n"
      "rank 1\n"
      "  stage 0 after - repeat 1 not_before 500\n"
      "    receive 0 payload in stage 0\n";
  const PortCosts costs{.send = 3, .occupancy = 4, .send_per_byte = 2, .occupancy_per_byte = 1};
  SimulationRun r = run(parsed(text), {.kinds = {costs}});
  EXPECT_EQ(r.active, (std::vector<Ticks>{100, 500}));  // it was in at 100 + 23 + 14
  EXPECT_EQ(r.bytes, 10u);
}

TEST(Firmware, SharedPortsDelayAReceiveBehindASend) {
  const char* text =
      "schedule barrier ranks 2 bytes 0 segment 0 algorithm dissemination:2\n"
      "rank 0\n"
      "  stage 0 after - repeat 1 not_before 0 waits_for_arrival\n"
      "    send 1 token in stage 1\n"
      "  stage 1 after 0 repeat 1 not_before 0\n"
      "    receive 1 token in stage 1\n"
      "rank 1\n"
      "  stage 0 after - repeat 1 not_before 0 waits_for_arrival\n"
      "    send 0 token in stage 1\n"
      "  stage 1 after 0 repeat 1 not_before 0\n"
      "    receive 0 token in stage 1\n";
  NodeTable nodes{.kinds = {{.send = 10, .occupancy = 1}, {.send = 2, .occupancy = 1}}, .kind_of = {0, 1}};
  EXPECT_EQ(run(parsed(text), nodes).active, (std::vector<Ticks>{11, 11}));
  nodes.ports = Ports::kIndependent;
  EXPECT_EQ(run(parsed(text), nodes).active, (std::vector<Ticks>{3, 11}));
}

TEST(Multicomputer, RefusesWhatCannotRun) {
  const auto error_of = [](const Workload& workload, const PortCosts& costs, std::uint64_t nodes) {
    IdealNetwork network(nodes, 0);
    std::string error;
    EXPECT_FALSE(simulate_machine(workload, {.kinds = {costs}}, network, {}, error));
    return error;
  };
  const Workload barrier = workload_of(Plan{}, {.ranks = 4});
  EXPECT_EQ(error_of(barrier, {.send = 1}, 3), "the machine has 3 nodes, not 4");
  EXPECT_EQ(error_of(barrier, {.send = 0}, 4),
            "a send must cost its node something, or the network must take some time");
  const Workload none{{.ranks = 2}, [](Rank, ScheduleWriter&) { return false; }};
  EXPECT_EQ(error_of(none, {}, 2), "some rank has no schedule that fits into 255 stages and 16777216 transfers");
  const auto waits = [](Rank, ScheduleWriter& out) {
    out.begin_stage({});
    out.receive({.peer = 0});
    return true;
  };
  EXPECT_EQ(error_of({{.ranks = 2}, waits}, {}, 2), "the schedule never ends, or a message is not expected");
  const auto sends = [](Rank rank, ScheduleWriter& out) {
    out.begin_stage({.waits_for_arrival = true});
    if (rank == 0) out.send({.peer = 1});
    return true;
  };
  EXPECT_EQ(error_of({{.ranks = 2}, sends}, {}, 2), "the schedule never ends, or a message is not expected");
}

// 300 messages of 2^55 ticks are behind the end of 64 bits.
TEST(Multicomputer, RefusesTimesThatItCannotCount) {
  IdealNetwork network(2, 0);
  std::string error;
  const auto sends = [](Rank rank, ScheduleWriter& out) {
    out.begin_stage({.repeat = 300, .waits_for_arrival = rank == 0});
    rank == 0 ? out.send({.peer = 1}) : out.receive({.peer = 0});
    return true;
  };
  const OperationShape shape{.operation = Operation::kMulticast, .ranks = 2};
  EXPECT_FALSE(simulate_machine({shape, sends}, {.kinds = {{.send = 1ull << 55}}}, network, {}, error));
  EXPECT_EQ(error, "it takes longer than can be counted in the ticks of this machine");
  EXPECT_FALSE(simulate_machine({shape, sends}, {.kinds = {{.send = 1, .occupancy = 1ull << 55}}}, network, {}, error));
  EXPECT_EQ(error, "it takes longer than can be counted in the ticks of this machine");
}

TEST(Multicomputer, RecordsWhatThePortsDo) {
  IdealNetwork network(2, 4);
  std::string error;
  const Workload multicast = workload_of(Plan{}, {.operation = Operation::kMulticast, .ranks = 2, .total_bytes = 3});
  const auto r =
      simulate_machine(multicast, {.kinds = {{.send = 5, .occupancy = 7}}}, network, {.record = true}, error);
  ASSERT_TRUE(r);
  ASSERT_EQ(r->port_uses.size(), 2u);
  EXPECT_TRUE(r->port_uses[0].is_send);
  EXPECT_EQ(r->port_uses[0].end, 5u);
  EXPECT_EQ(r->port_uses[1].rank, 1u);
  EXPECT_EQ(r->port_uses[1].begin, 9u);
  EXPECT_EQ(r->port_uses[1].end, 16u);
  EXPECT_EQ(r->port_uses[1].bytes, 3u);
}

}  // namespace
}  // namespace fibocast
