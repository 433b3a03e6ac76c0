// From raw values to costs: what a machine of known costs would have measured, with noise, gives these costs again.
#include "runtime/cli/calibration/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "collectives/algorithm_catalog.h"
#include "collectives/predict_hosts.h"

namespace fibocast {
namespace {

struct Machine {
  std::vector<double> send, receive;  // by node
  double occupancy = 0;
  double send_per_byte = 0, receive_per_byte = 0;
};

// As measure() would fill it: each value some percent late, now and then very late.
class Model {
 public:
  explicit Model(Machine machine) : machine_(std::move(machine)), random_(1) {}
  NodeId nodes() const { return static_cast<NodeId>(machine_.send.size()); }
  double stagger = 0;
  Measurements measured(const CalibrationPlan& plan, double noise) {
    noise_ = noise;
    Measurements m;
    for (std::uint32_t i = 0; i < plan.repetitions; ++i) {
      for (NodeId node = 0; node < nodes(); ++node) {
        for (const std::uint64_t bytes : plan.sizes) {
          m.send[{node, bytes}].push_back(late(send(node, bytes)));
          m.receive[{node, bytes}].push_back(late(receive(node, bytes)));
        }
        for (const std::uint32_t k : {1u, 2u, 4u}) m.fan_in[{node, k}].push_back(fan_in(node, k));
      }
      for (const std::uint64_t bytes : plan.sizes)
        for (const std::uint32_t k : {1u, 2u, 4u}) {
          const double t0 = send(0, bytes), lambda = 1 + receive(0, bytes) / t0;
          m.postal[{1, bytes, k}].push_back(late(t0 * (k - 1 + 2 * lambda)));
          m.postal[{2, bytes, k}].push_back(late(2 * t0 * (k - 1 + lambda)));
        }
    }
    return m;
  }

 private:
  double send(NodeId node, std::uint64_t bytes) const {
    return machine_.send[node] + machine_.send_per_byte * double(bytes);
  }
  double receive(NodeId node, std::uint64_t bytes) const {
    return machine_.receive[node] + machine_.receive_per_byte * double(bytes);
  }
  // Each sender begins up to `stagger` after it should.
  FanIn fan_in(NodeId root, std::uint32_t k) {
    FanIn fan_in;
    std::vector<double> arrivals;
    for (NodeId i = 1; i <= k; ++i) {
      fan_in.begun.push_back(stagger * double(random_() % 1000) / 1000);
      arrivals.push_back(fan_in.begun.back() + machine_.send[(root + i) % nodes()] + machine_.receive[root] -
                         machine_.occupancy);
    }
    // Not ranges::sort: the program's, which is optimised, would be replaced by what is compiled here.
    std::sort(arrivals.begin(), arrivals.end());
    double free = 0;
    for (const double arrival : arrivals) free = std::max(free, arrival) + machine_.occupancy;
    fan_in.received = late(free);
    return fan_in;
  }
  double late(double time) {
    if (random_() % 20 == 0) return 3 * time;
    return time * (1 + noise_ * std::abs(std::normal_distribution<>()(random_)));
  }

  Machine machine_;
  std::mt19937 random_;
  double noise_ = 0;
};

void expect_near(double value, double truth, double share, const char* what) {
  EXPECT_NEAR(value, truth, std::abs(truth) * share) << what;
}

TEST(Calibration, GivesBackTheCostsOfEachSplitOfR) {
  CalibrationPlan plan;
  plan.emulated = true, plan.repetitions = 20;
  for (const double l : {0.0, 44'000.0, 79'200.0}) {  // l : o = 0:1, 1:1, 9:1
    Machine machine{std::vector<double>(8, 27'000), std::vector<double>(8, 88'000), 88'000 - l, 2, 3};
    Model model(machine);
    const Calibration c = calibrate(model.measured(plan, 0.003), plan, 8);
    expect_near(c.model.send.value, 27'000, 0.01, "s");
    expect_near(c.model.receive.value, 88'000, 0.01, "r");
    expect_near(c.model.occupancy.value, 88'000 - l, 0.03, "o");
    EXPECT_NEAR(c.latency.value, l, 0.03 * 88'000);
    expect_near(c.model.send_per_byte.value, 2, 0.02, "S_m");
    expect_near(c.model.receive_per_byte.value, 3, 0.02, "R_m + X_m");
    expect_near(c.lambda.value, 1 + 88.0 / 27, 0.02, "lambda");
    EXPECT_LE(c.model.send.low, c.model.send.value);
    EXPECT_GE(c.model.send.high, c.model.send.value);
    EXPECT_GT(c.outliers, 0u);
    for (const PostalResult& p : c.postal) {
      const double truth = 1 + (88'000 + 3 * double(p.bytes)) / (27'000 + 2 * double(p.bytes));
      expect_near(p.one_way.value, truth, 0.05, "experiment 1");
      expect_near(p.there_and_back.value, truth, 0.05, "experiment 2");
    }
    EXPECT_EQ(c.types.size(), 1u);
    EXPECT_FALSE(c.shared_host);
  }
}

TEST(Calibration, NodesOfUnlikeCostsAreToldApart) {
  CalibrationPlan plan;
  plan.emulated = true, plan.repetitions = 20;
  Machine machine{
      {60'000, 90'000, 60'000, 90'000, 60'000, 60'000}, std::vector<double>(6, 110'000), 70'000, 0.05, 0.11};
  machine.receive[1] = machine.receive[3] = 140'000;
  const Calibration c = calibrate(Model(machine).measured(plan, 0.003), plan, 6);
  EXPECT_EQ(c.types, (std::vector<std::vector<NodeId>>{{0, 2, 4, 5}, {1, 3}}));
  for (NodeId node = 0; node < 6; ++node) {
    expect_near(c.nodes[node].send.value, machine.send[node], 0.01, "S_c");
    expect_near(c.nodes[node].receive.value, machine.receive[node], 0.01, "R_c + X_c");
    expect_near(c.nodes[node].occupancy.value, 70'000, 0.06, "o, with senders of different s");
  }
}

// All members of a fan-in are released late: that is no occupancy.
TEST(Calibration, ALateReleaseIsNotTakenForOccupancy) {
  CalibrationPlan plan;
  plan.emulated = true, plan.repetitions = 20;
  Machine machine{std::vector<double>(8, 27'000), std::vector<double>(8, 88'000), 8'800, 2, 3};
  Measurements m = Model(machine).measured(plan, 0);
  for (auto& [key, repetitions] : m.fan_in)
    for (FanIn& fan_in : repetitions) fan_in.received += 1'000;
  expect_near(calibrate(m, plan, 8).model.occupancy.value, 8'800, 0.01, "o");
}

// On a busy host senders do not begin together, which looks like a longer or a shorter queue.
TEST(Calibration, SendersNeedNotBeginTogether) {
  CalibrationPlan plan;
  plan.emulated = true, plan.repetitions = 3;
  Model model({std::vector<double>(8, 27'000), std::vector<double>(8, 88'000), 8'800, 2, 3});
  model.stagger = 9'000;
  expect_near(calibrate(model.measured(plan, 0), plan, 8).model.occupancy.value, 8'800, 0.01, "o");
}

// What operations of all nodes of a host of known costs would have taken.
Measurements on_a_host(const CostModel& costs, const HostSharing& hosts, double noise) {
  Measurements m;
  std::mt19937 random(3);
  for (const char* algorithm : {"sequential", "kary:1", "dissemination:2", "dissemination:8"})
    for (const auto& [operation, bytes] : {std::pair{Operation::kBarrier, 0}, std::pair{Operation::kMulticast, 0},
                                           std::pair{Operation::kMulticast, 32768}}) {
      OperationShape shape{.operation = operation, .ranks = hosts.nodes, .total_bytes = std::uint64_t(bytes)};
      std::string error;
      const auto choice = choose_algorithm(operation, algorithm, error);
      if (!choice) continue;
      shape.choice = *choice;
      HostExperiment experiment{*build_schedule(fibo_plan({}), shape), {}};
      const double time = double(*predict_on_hosts(experiment.schedule, costs, hosts));
      for (int i = 0; i < 20; ++i)
        experiment.taken.push_back(time * (1 + noise * std::abs(std::normal_distribution<>()(random))));
      m.whole.push_back(experiment);
    }
  return m;
}

TEST(Calibration, ASharedHostIsFittedByWholeOperations) {
  for (const std::uint32_t processors : {1u, 2u, 4u}) {
    const CostModel costs{.send = 6'000,
                          .latency = 4'000,
                          .occupancy = 3'000,
                          .send_per_byte = 1,
                          .occupancy_per_byte = 1,
                          .wake = 20'000};
    CalibrationPlan plan;
    plan.colocated = 16;
    const HostSharing hosts{.nodes = 16, .processors = processors};
    const Calibration c = calibrate(on_a_host(costs, hosts, 0.01), plan, 16);
    EXPECT_TRUE(c.shared_host);
    EXPECT_EQ(c.processors, processors);
    EXPECT_LT(c.fit_error, 0.05);
    // What it cannot tell apart does not matter: algorithms that were not measured are predicted.
    const NodeModel model = model_of(c);
    EXPECT_EQ(model.processors, processors);
    const CostModel fitted{.send = std::uint64_t(model.s),
                           .latency = std::uint64_t(model.l),
                           .occupancy = std::uint64_t(model.o),
                           .wake = std::uint64_t(model.wake)};
    for (const char* algorithm : {"binomial", "kary:4", "dissemination:4"}) {
      OperationShape shape{.operation = Operation::kBarrier, .ranks = 16};
      std::string error;
      shape.choice = *choose_algorithm(shape.operation, algorithm, error);
      const auto schedule = build_schedule(fibo_plan({}), shape);
      expect_near(double(*predict_on_hosts(*schedule, fitted, hosts)),
                  double(*predict_on_hosts(*schedule, costs, hosts)), 0.1, algorithm);
    }
  }
}

TEST(Calibration, FarPairsPartHosts) {
  CalibrationPlan plan;
  Machine machine{std::vector<double>(6, 3'000), std::vector<double>(6, 40'000), 30'000, 1, 1};
  Measurements m = Model(machine).measured(plan, 0.01);
  for (NodeId a = 0; a < 6; ++a)
    for (NodeId b = a + 1; b < 6; ++b)
      m.round_trips[{a, b}] = Sample(5, (a < 2) == (b < 2) ? 50'000.0 + a : 400'000.0 + b);
  EXPECT_EQ(calibrate(m, plan, 6).hosts, (std::vector<std::vector<NodeId>>{{0, 1}, {2, 3, 4, 5}}));
}

TEST(Estimate, MediansLinesAndOutliers) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(middle_mean({5}), 5);
  EXPECT_EQ(middle_mean({1, 2, 6}), 3);
  EXPECT_EQ(middle_mean({1000, 1, 2, 3}), 2.5) << "a quarter at each end does not count";
  EXPECT_EQ(outliers({1, 1.1, 0.9, 1, 50}), 1u);
  EXPECT_EQ(outliers({}), 0u);
  const double x[] = {0, 1, 2, 10};
  const Sample y[] = {{1}, {3}, {5}, {1000}};
  const Line line = line_through(x, std::span(y).first(3));
  EXPECT_EQ(line.slope, 2);
  EXPECT_EQ(line.intercept, 1);
  const Estimate e = median_estimate({10, 11, 12, 13, 14});
  EXPECT_EQ(e.value, 12);
  EXPECT_LE(e.low, 11);
  EXPECT_GE(e.high, 13);
}

}  // namespace
}  // namespace fibocast
