// Whole nodes on a network that takes no time, with the emulated network card for s, l and o: the machine of the
// papers. Every operation by every algorithm takes exactly as long as predict() says, at every rank.
#include <gtest/gtest.h>

#include <span>

#include "collectives/algorithm_catalog.h"
#include "collectives/data_layout.h"
#include "collectives/predict.h"
#include "firmware_sim/virtual_cluster.h"

namespace fibocast {
namespace {

constexpr Rank kIdealRanks[] = {1, 2, 3, 5, 8, 13, 19};
constexpr Nanoseconds kTick = 100'000;  // acknowledgements, which may be 500 us late, never hold up a channel
constexpr std::uint32_t kSegment = 4000;

// lambda = 1 + (l + o) / s: 4.26 (MANNA), 2, 9/5, 3, 1. A tick per byte on both sides.
constexpr CostModel kMachines[] = {{27, 61, 27, 1, 1, Ports::kShared},
                                   {10, 0, 10, 1, 1, Ports::kShared},
                                   {5, 0, 4, 1, 1, Ports::kIndependent},
                                   {7, 9, 5, 1, 1, Ports::kIndependent},
                                   {6, 0, 0, 1, 1, Ports::kShared}};

Limits nic_limits_for(Rank ranks) {
  Limits l = Limits::simulated();
  l.nodes = ranks, l.groups = 1, l.transfers = 260, l.stages = 255;
  l.small_window = 8, l.bulk_streams = 8, l.bulk_window = 64;
  l.nic_queue = 1024, l.local_work = 256, l.buffers = 256;
  return l;
}

Plan plan_of(const CostModel& m) {
  Plan plan = fibo_plan(m);
  plan.segment_bytes = kSegment;
  return plan;
}

NicSettings nic_of(const CostModel& m) {
  NicSettings nic;
  nic.enabled = true;
  nic.send = static_cast<Nanoseconds>(m.send) * kTick;
  nic.latency = static_cast<Nanoseconds>(m.latency) * kTick;
  nic.receive = static_cast<Nanoseconds>(m.occupancy) * kTick;
  nic.send_per_byte = static_cast<double>(m.send_per_byte * kTick);
  nic.receive_per_byte = static_cast<double>(m.occupancy_per_byte * kTick);
  nic.ports = m.ports == Ports::kShared ? NicPorts::kShared : NicPorts::kIndependent;
  return nic;
}

// A receive that takes no time is over before another of the same instant is known: a node handles them as they come,
// predict() by their sources. Only in a flood does one send wait for another because of that.
bool is_ambiguous(const AlgorithmEntry& entry, const CostModel& m) {
  return entry.choice.algorithm == Algorithm::kFlooding && m.latency + m.occupancy == 0;
}

// One operation by one algorithm on one machine.
class TimedOperation {
 public:
  TimedOperation(const AlgorithmEntry& entry, const CostModel& machine, Rank participants, std::uint64_t bytes)
      : machine_(machine), participants_(participants) {
    shape_ = {.operation = entry.operation, .ranks = participants, .total_bytes = bytes};
    shape_.choice = entry.choice;
    if (entry.choice.algorithm == Algorithm::kFlooding) shape_.ranks = 2 * participants - 1;
    if (combines(entry.operation)) shape_.type = ElementType::kUint64, shape_.op = CombineOperator::kSum;
    const bool streamed = bytes > Limits::simulated().eager_bytes;
    if (streamed) shape_.segment_bytes = kSegment;
  }

  void run() {
    ClusterSettings settings;
    settings.nodes = shape_.ranks;
    settings.limits = nic_limits_for(shape_.ranks);
    settings.node.plan = plan_of(machine_);
    settings.node.nic = nic_of(machine_);
    VirtualCluster cluster(settings);
    cluster.start_all();
    ASSERT_TRUE(cluster.connect_all());
    const Nanoseconds start = cluster.now() + 1000;
    for (Rank rank = 0; rank < participants_; ++rank) call(cluster, rank, start);
    const auto all_answered = [&] {
      return std::ranges::all_of(cookies_, [&](std::uint64_t c) { return cluster.answer(c) != nullptr; });
    };
    ASSERT_TRUE(cluster.run_until(kNever, all_answered));
    compare(cluster, start);
  }

 private:
  std::uint64_t brought_by(Rank rank) const {
    if (shape_.operation == Operation::kBarrier || (is_push(shape_.operation) && rank != 0)) return 0;
    if (shape_.operation == Operation::kConquer) return input_bytes(shape_, rank);
    const bool several = shape_.operation == Operation::kScatter || shape_.operation == Operation::kAlltoall;
    return several ? shape_.total_bytes * participants_ : shape_.total_bytes;
  }
  void call(VirtualCluster& cluster, Rank rank, Nanoseconds start) {
    Call c;
    c.group = cluster.open(rank, "all").group;
    c.operation = shape_.operation, c.choice = shape_.choice, c.type = shape_.type, c.op = shape_.op;
    c.generation = 0, c.not_before = start;
    if (shape_.operation == Operation::kConquer) c.total_bytes = shape_.total_bytes;
    if (brought_by(rank) > 0) c.payload = *cluster.node(rank).put_payload(pattern(rank, brought_by(rank)));
    const Asked asked = cluster.call(rank, c);
    ASSERT_EQ(asked.admission, Admission::kTaken) << "rank " << rank;
    cookies_.push_back(asked.cookie);
  }
  void compare(VirtualCluster& cluster, Nanoseconds start) const {
    const auto schedule = build_schedule(plan_of(machine_), shape_);
    ASSERT_TRUE(schedule.has_value());
    const auto predicted = predict(*schedule, machine_);
    ASSERT_TRUE(predicted.has_value());
    for (Rank rank = 0; rank < participants_; ++rank) {
      const CallDone& done = cluster.answer(cookies_[rank])->event.done;
      ASSERT_EQ(done.verdict, Verdict::kOk) << "rank " << rank;
      EXPECT_EQ(done.activated_at - start, static_cast<Nanoseconds>(predicted->active[rank]) * kTick)
          << "rank " << rank;
    }
  }

  OperationShape shape_;
  CostModel machine_;
  Rank participants_;
  std::vector<std::uint64_t> cookies_;
};

class OnTheIdealMachine : public testing::TestWithParam<std::size_t> {};

TEST_P(OnTheIdealMachine, NodesTakeAsLongAsPredicted) {
  const AlgorithmEntry& entry = algorithm_catalog()[GetParam()];
  // Times do not depend on a sanitizer: one machine with shared and one with independent ports will do for it.
  const std::size_t first = FIBOCAST_SANITIZED ? 1 : 0, last = FIBOCAST_SANITIZED ? 3 : std::size(kMachines);
  for (const CostModel& machine : std::span(kMachines).subspan(first, last - first)) {
    for (const Rank ranks : kIdealRanks) {
      for (const std::uint64_t bytes : {0u, 8u, 16'000u}) {
        if ((entry.operation == Operation::kBarrier && bytes > 0) || is_ambiguous(entry, machine)) continue;
        if (bytes > 1000 && ranks > 8) continue;
        TimedOperation(entry, machine, ranks, bytes).run();
        ASSERT_FALSE(HasFailure()) << "ranks " << ranks << " bytes " << bytes << " s " << machine.send << " l "
                                   << machine.latency << " o " << machine.occupancy;
      }
    }
  }
}

std::string timed_test_name(const testing::TestParamInfo<std::size_t>& info) {
  const AlgorithmEntry& entry = algorithm_catalog()[info.param];
  std::string name = std::string(operation_name(entry.operation)) + "_" + std::string(entry.name);
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Catalog, OnTheIdealMachine, testing::Range(std::size_t{0}, algorithm_catalog().size()),
                         timed_test_name);

}  // namespace
}  // namespace fibocast
