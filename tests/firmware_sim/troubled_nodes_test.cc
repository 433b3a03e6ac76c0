// What each rank of an operation is told when things go wrong on a modelled machine.
#include "firmware_sim/troubled_nodes.h"

#include <algorithm>

#include "tests/firmware_sim/full_nodes.h"

namespace fibocast {
namespace {

using Kind = Fault::Kind;
using test::experiment_on;

TroubledRun run_with(const ExperimentRequest& request, const std::vector<Fault>& faults) {
  std::string error;
  auto experiment = Experiment::prepare(request, error);
  const auto run = experiment->run_troubled_nodes(faults, error);
  EXPECT_TRUE(run) << error;
  return run.value_or(TroubledRun{});
}

ExperimentRequest barrier_on_manna(Rank ranks = 8) {
  return experiment_on("manna", Operation::kBarrier, "fibo", ranks);
}

// A chain: each rank hears from the one before it.
ExperimentRequest chain_on_manna() {
  ExperimentRequest request = experiment_on("manna", Operation::kMulticast, "", 6);
  request.tree = "kary:1", request.bytes = 100;
  return request;
}

void expect_all_ok(const TroubledRun& run) {
  for (const TroubledRank& r : run.ranks) EXPECT_EQ(r.verdict, Verdict::kOk);
}

std::vector<Nanoseconds> activations(const TroubledRun& run) {
  std::vector<Nanoseconds> times;
  for (const TroubledRank& r : run.ranks) times.push_back(r.activated);
  return times;
}

Nanoseconds last_activation(const TroubledRun& run) { return std::ranges::max(activations(run)); }

TEST(TroubledNodes, WithoutFaultsTakeAsLongAsTheMachineSays) {
  for (const char* machine : {"manna", "hnow"})
    for (const Operation operation : {Operation::kBarrier, Operation::kMulticast, Operation::kAllreduce}) {
      ExperimentRequest request = experiment_on(machine, operation, "fibo", 12);
      if (operation != Operation::kBarrier) request.bytes = 64;
      if (operation == Operation::kMulticast) request.root = 5;
      std::string error;
      auto engines = Experiment::prepare(request, error);
      const auto expected = engines->run({}, error);
      const TroubledRun run = run_with(request, {});
      ASSERT_EQ(run.ranks.size(), 12u);
      EXPECT_EQ(run.messages, expected->messages);
      for (Rank v = 0; v < 12; ++v)
        EXPECT_EQ(Rational(static_cast<std::uint64_t>(run.ranks[engines->real_rank(v)].activated)),
                  engines->time(expected->active[v]))
            << machine << ' ' << v;
    }
}

TEST(TroubledNodes, ACrashOfAnInnerRankIsNamedByAllOthers) {
  const TroubledRun run = run_with(barrier_on_manna(), {{.kind = Kind::kCrash, .nodes = {1}}});
  for (Rank rank = 0; rank < 8; ++rank) {
    const TroubledRank& r = run.ranks[rank];
    if (rank == 1) {
      EXPECT_EQ(r.verdict, Verdict::kPending);
      continue;
    }
    EXPECT_EQ(r.verdict, Verdict::kPeerLost);
    EXPECT_EQ(r.missing, std::vector<Rank>{1});
    EXPECT_GT(r.answered, 0);
    EXPECT_LT(r.answered, kTroubledDeadline);
  }
}

TEST(TroubledNodes, LossDelaysButKeepsTheOrder) {
  const TroubledRun calm = run_with(chain_on_manna(), {});
  std::uint64_t later = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    ExperimentRequest request = chain_on_manna();
    request.seed = seed;
    const TroubledRun run = run_with(request, {loss(0.2)});
    expect_all_ok(run);
    const std::vector<Nanoseconds> times = activations(run);
    EXPECT_TRUE(std::ranges::is_sorted(times, std::ranges::less_equal())) << seed;
    for (Rank rank = 0; rank < times.size(); ++rank) EXPECT_GE(times[rank], calm.ranks[rank].activated);
    EXPECT_LE(run.datagrams.lost, run.datagrams.sent);
    later += last_activation(run) > last_activation(calm) ? 1 : 0;
  }
  EXPECT_GT(later, 0u);
}

// Sooner than the suspicion, which is 2 s.
TEST(TroubledNodes, APartitionThatHealsHoldsUpTheBarrier) {
  const Fault apart{.kind = Kind::kPartition, .heals = 900 * kMillisecond, .nodes = {1, 4}};
  const TroubledRun run = run_with(barrier_on_manna(), {apart});
  expect_all_ok(run);
  for (const TroubledRank& r : run.ranks) EXPECT_GE(r.activated, 900 * kMillisecond);
  EXPECT_LT(last_activation(run), 2 * kSecond);
}

TEST(TroubledNodes, APartitionThatLastsIsNamedOnTheRootsSide) {
  const Fault apart{.kind = Kind::kPartition, .nodes = {1, 4}};
  const TroubledRun run = run_with(barrier_on_manna(), {apart});
  for (Rank rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(run.ranks[rank].verdict, Verdict::kPeerLost) << rank;
    if (rank == 1 || rank == 4) continue;
    EXPECT_EQ(run.ranks[rank].missing, (std::vector<Rank>{1, 4}));
    EXPECT_GE(run.ranks[rank].answered, 3 * kSecond / 2) << "the detector's three quarters of 2 s";
    EXPECT_LE(run.ranks[rank].answered, 2 * kSecond);
  }
}

TEST(TroubledNodes, TheSeedDecidesTheDice) {
  const auto activations_of = [](std::uint64_t seed) {
    ExperimentRequest request = barrier_on_manna(16);
    request.seed = seed;
    return activations(run_with(request, {loss(0.3)}));
  };
  EXPECT_EQ(activations_of(7), activations_of(7));
  EXPECT_NE(activations_of(7), activations_of(8));
}

// By then the others have their verdict; it calls again, and is told the same.
TEST(TroubledNodes, WhoComesBackIsTold) {
  const TroubledRun run = run_with(barrier_on_manna(), {{.kind = Kind::kCrash, .heals = 3 * kSecond, .nodes = {3}}});
  for (Rank rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(run.ranks[rank].verdict, Verdict::kPeerLost) << rank;
    EXPECT_EQ(run.ranks[rank].missing, std::vector<Rank>{3});
    EXPECT_EQ(run.ranks[rank].answered >= 3 * kSecond, rank == 3) << rank;
  }
}

TEST(TroubledNodes, CrashesMayOverlap) {
  const Fault first{.kind = Kind::kCrash, .heals = 50 * kMillisecond, .nodes = {3}};
  const Fault second{.kind = Kind::kCrash, .begins = 10 * kMillisecond, .heals = kSecond, .nodes = {3}};
  const TroubledRun run = run_with(barrier_on_manna(), {first, second});
  for (const TroubledRank& r : run.ranks) {
    EXPECT_EQ(r.verdict, Verdict::kPeerLost);
    EXPECT_LT(r.answered, 90 * kMillisecond);  // that rank, too: it is up again at 50 ms
  }
}

TEST(TroubledNodes, WhoComesBackAfterTheEndIsTooLate) {
  const Fault leaf{.kind = Kind::kCrash, .begins = 500'000, .heals = kSecond, .nodes = {5}};
  const TroubledRun run = run_with(chain_on_manna(), {leaf});
  for (Rank rank = 0; rank < 5; ++rank) EXPECT_EQ(run.ranks[rank].verdict, Verdict::kOk) << rank;
  EXPECT_NE(run.ranks[5].verdict, Verdict::kPending);
}

// Rank 2 asks for a verdict while rank 7 sleeps with all that it needs in its socket.
TEST(TroubledNodes, AVerdictThatAllHadComeActivates) {
  const Fault asleep{.kind = Kind::kPause, .begins = 1, .heals = 500 * kMillisecond, .nodes = {7}};
  const Fault jump{.kind = Kind::kClockJump, .begins = kMillisecond, .nodes = {2}, .time = 20 * kSecond};
  const TroubledRun run = run_with(barrier_on_manna(), {asleep, jump});
  expect_all_ok(run);
  for (const TroubledRank& r : run.ranks) {
    EXPECT_GT(r.activated, 0);
    EXPECT_LE(r.activated, r.answered);
  }
}

TEST(TroubledNodes, RefuseWithASentence) {
  const auto error_of = [](const ExperimentRequest& request) {
    std::string error;
    auto experiment = Experiment::prepare(request, error);
    EXPECT_FALSE(experiment->run_troubled_nodes({}, error));
    return error;
  };
  EXPECT_EQ(error_of(barrier_on_manna(kMostTroubledNodes + 1)), "whole nodes are run up to 256 at a time");
  ExperimentRequest request = barrier_on_manna(19);
  request.machine.far_send = 1;
  EXPECT_EQ(error_of(request), "whole nodes do not know of networks that keep the sender longer");
}

}  // namespace
}  // namespace fibocast
