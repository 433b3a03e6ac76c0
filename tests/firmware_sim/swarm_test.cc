// The first seeds of the swarm, and that a seed is all it takes to see a run again. fibocast_swarm runs more.
#include <gtest/gtest.h>

#include <cstdint>

#include "firmware_sim/checkers/checkers.h"
#include "firmware_sim/swarm_run.h"
#include "firmware_sim/swarm_scenario.h"

namespace fibocast {
namespace {

// Four parts, so that ctest runs them side by side.
class Swarm : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Swarm, KeepsEveryPromise) {
  constexpr std::uint64_t kSeeds = 50;
  for (std::uint64_t seed = GetParam(); seed < GetParam() + kSeeds; ++seed) {
    const Scenario scenario = make_scenario(seed);
    const SwarmResult result = run_scenario(scenario);
    EXPECT_TRUE(result.finished) << "seed " << seed;
    EXPECT_EQ(check_all(result.history), Faults{}) << "again: fibocast_swarm --seed " << seed << "\n"
                                                   << describe(scenario);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Swarm, testing::Values(1, 51, 101, 151));

// Seeds that once found a fault.
TEST(SwarmRegression, WindowToldToTheFirstChildrenOnly) {
  EXPECT_EQ(check_all(run_scenario(make_scenario(21961)).history), Faults{});
}

TEST(SwarmRegression, NewcomerDecidesAGenerationThatTheOthersHaveForgotten) {
  EXPECT_EQ(check_all(run_scenario(make_scenario(23579)).history), Faults{});
}

TEST(SwarmRegression, AnswersToTheCoordinatorWaitForRoomInTheChannel) {
  EXPECT_EQ(check_all(run_scenario(make_scenario(49256)).history), Faults{});
}

TEST(SwarmRegression, TwoCoordinatorsFindOneVerdict) {
  EXPECT_EQ(check_all(run_scenario(make_scenario(54647)).history), Faults{});
}

TEST(SwarmRegression, TokenThatComesTooLateStillTellsTheWindow) {
  EXPECT_EQ(check_all(run_scenario(make_scenario(42230)).history), Faults{});
}

TEST(SwarmRegression, CoordinatorThatWithdrewBeganAgain) {
  EXPECT_EQ(check_all(run_scenario(make_scenario(61894)).history), Faults{});
}

TEST(SwarmRegression, PayloadWaitedBehindOneThatWasGivenUp) {
  EXPECT_EQ(check_all(run_scenario(make_scenario(75926)).history), Faults{});
}

TEST(SwarmRegression, WindowLeftToABarrierThatSomeCouldNotOpen) {
  EXPECT_EQ(check_all(run_scenario(make_scenario(108430)).history), Faults{});
}

TEST(SwarmTrace, TheSameSeedGivesTheSameRun) {
  for (std::uint64_t seed : {3, 17, 42}) {
    const Scenario scenario = make_scenario(seed);
    const SwarmResult first = run_scenario(scenario), second = run_scenario(scenario);
    EXPECT_EQ(first.trace, second.trace) << seed;
    EXPECT_EQ(first.virtual_time, second.virtual_time) << seed;
    EXPECT_EQ(first.history.records.size(), second.history.records.size()) << seed;
  }
}

TEST(SwarmTrace, AnotherSeedGivesAnotherRun) {
  EXPECT_NE(run_scenario(make_scenario(1)).trace, run_scenario(make_scenario(2)).trace);
}

}  // namespace
}  // namespace fibocast
