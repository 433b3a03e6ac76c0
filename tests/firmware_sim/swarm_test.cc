// The first seeds of the swarm, and that a seed is all it takes to see a run again. fibocast_swarm runs more.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "firmware_sim/checkers/checkers.h"
#include "firmware_sim/swarm_run.h"
#include "firmware_sim/swarm_scenario.h"
#include "firmware_sim/swarm_trouble.h"

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
    EXPECT_EQ(check_all(result.history), Findings{}) << "again: fibocast_swarm --seed " << seed << "\n"
                                                     << describe(scenario);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Swarm, testing::Values(1, 51, 101, 151));

// Seeds that once found a fault, and which.
struct FoundFault {
  std::uint64_t seed;
  const char* name;
};

class SwarmRegression : public testing::TestWithParam<FoundFault> {};

TEST_P(SwarmRegression, IsNotThereAnyMore) {
  Scenario scenario = make_scenario(GetParam().seed);
  scenario.cluster.node.ahead_bytes = 0;  // as it was then
  EXPECT_EQ(check_all(run_scenario(scenario).history), Findings{});
}

INSTANTIATE_TEST_SUITE_P(Seeds, SwarmRegression,
                         testing::Values(FoundFault{21961, "WindowToldToTheFirstChildrenOnly"},
                                         FoundFault{23579, "NewcomerDecidedAGenerationThatTheOthersHadForgotten"},
                                         FoundFault{42230, "TokenThatCameTooLateDidNotTellTheWindow"},
                                         FoundFault{49256, "AnswerToTheCoordinatorFoundTheChannelFull"},
                                         FoundFault{54647, "TwoCoordinatorsFoundTwoVerdicts"},
                                         FoundFault{61894, "CoordinatorThatWithdrewBeganAgain"},
                                         FoundFault{75926, "PayloadWaitedBehindOneThatWasGivenUp"},
                                         FoundFault{108430, "WindowLeftToABarrierThatSomeCouldNotOpen"}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(SwarmSeedRegression, CoordinatorThatWasStoppedDecidedByWhatItHadHeardBefore) {
  EXPECT_EQ(check_all(run_scenario(scenario_of(1008911)).history), Findings{});
}

TEST(SwarmSeedRegression, CountOfTheWindowWaitedForWhoNeverCameAndKeptVerdictsWaiting) {
  EXPECT_EQ(check_all(run_scenario(scenario_of(1004699)).history), Findings{});
}

TEST(SwarmSeedRegression, DataAheadOfItsGrantStoppedWhatCameBehindIt) {
  for (const std::uint64_t seed : {3278, 824449})
    EXPECT_EQ(check_all(run_scenario(scenario_of(seed)).history), Findings{}) << seed;
}

TEST(SwarmSeedRegression, RingsOfTwoGroupsWaitedForEachOthersStreams) {
  EXPECT_EQ(check_all(run_scenario(scenario_of(218636)).history), Findings{});
}

TEST(SwarmSeedRegression, WhoWasOutsideSentItsDataForEver) {
  EXPECT_EQ(check_all(run_scenario(scenario_of(4341)).history), Findings{});
}

class TroubledRegression : public testing::TestWithParam<FoundFault> {};

TEST_P(TroubledRegression, IsNotThereAnyMore) {
  const SwarmResult result = run_scenario(make_troubled_scenario(GetParam().seed));
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(check_all(result.history), Findings{});
}

INSTANTIATE_TEST_SUITE_P(
    Seeds, TroubledRegression,
    testing::Values(
        FoundFault{7724, "CallThatFoundNoRoomHeldUpTheWindow"},
        FoundFault{1991, "LatePartOfAFailedOperationWaitedForOthers"},
        FoundFault{34, "MemoryTakenByWhatIsCollectedLater"}, FoundFault{42, "VerdictToldForEverToTheDead"},
        FoundFault{55, "LaterMessageTookTheMemoryOfAnEarlierOne"}, FoundFault{150, "ReceiverRefusedAPlanItNeedNotKnow"},
        FoundFault{408, "LaterGenerationTookTheLastStreams"}, FoundFault{542, "WindowNotToldToAParentThatCameBack"},
        FoundFault{931, "ScheduleOfNoStages"}, FoundFault{1055, "WindowWaitedForTheLost"},
        FoundFault{1420, "AnswerToADefinitionFoundTheChannelFull"}, FoundFault{3019, "TheReturnedNamedWhoGaveItUp"},
        FoundFault{1754, "WindowNotCountedForThoseWhoWaitOutside"}, FoundFault{10283, "DefinitionTakenByAFormerSelf"}),
    [](const auto& info) { return std::string(info.param.name); });

class ShrinkingRegression : public testing::TestWithParam<FoundFault> {};

TEST_P(ShrinkingRegression, IsNotThereAnyMore) {
  const SwarmResult result = run_scenario(make_shrinking_scenario(GetParam().seed));
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(check_all(result.history), Findings{});
}

INSTANTIATE_TEST_SUITE_P(
    Seeds, ShrinkingRegression,
    testing::Values(FoundFault{30, "ChildrenToldOfTheEndByRanksOfTheNextEpoch"},
                    FoundFault{111, "HighRankTakenForARouter"}, FoundFault{117, "RefusedCallHadNoGeneration"},
                    FoundFault{252, "MemberAskedForAChangeThatWasOver"},
                    FoundFault{306, "NumbersOfBeforeHeldUpTheOthers"},
                    FoundFault{951, "WishToJoinKeptByWhoDoesNotLead"}, FoundFault{1308, "WhoReturnedNamedNobody"},
                    FoundFault{1341, "OutsideMemberAskedAnotherOne"}, FoundFault{1569, "CutOffThoughTheChangeWentOn"},
                    FoundFault{2805, "ChangeThatBeganAnewNamedNobody"},
                    FoundFault{2055, "OldNewsOfBeingOutsideWereBelieved"},
                    FoundFault{7029, "ParticipantThatPassesWasRefusedForEver"}, FoundFault{7359, "WhoReturnedNamedAll"},
                    FoundFault{7305, "NewcomerBeganWithWhatWasOver"}, FoundFault{9663, "OutsiderNamedWhomItHadMissed"}),
    [](const auto& info) { return std::string(info.param.name); });

class ReplanRegression : public testing::TestWithParam<FoundFault> {};

TEST_P(ReplanRegression, IsNotThereAnyMore) {
  const Scenario scenario = scenario_of(GetParam().seed);
  EXPECT_FALSE(scenario.replans.empty());
  const SwarmResult result = run_scenario(scenario);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(check_all(result.history), Findings{});
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReplanRegression,
                         testing::Values(FoundFault{162, "HoldWasNeverReleased"},
                                         FoundFault{1638, "HoldForgottenByMessagesOfOthers"},
                                         FoundFault{2556, "WhoReturnedWasLeftOut"},
                                         FoundFault{507080, "LeaderThatGaveUpNeverDecidedAgain"},
                                         FoundFault{29268, "NewcomerWaitedForWhatWasDecidedWithoutIt"},
                                         FoundFault{40100, "CallsThatEndedInAChangeDidNotCount"},
                                         FoundFault{8976, "BarrierThatAllHadPassedNeverEnded"},
                                         FoundFault{109230, "WaitsOfTheFormerPlanWereKept"},
                                         FoundFault{89246, "NoRoomForCallsWhileAMemberWasLostInAChange"}),
                         [](const auto& info) { return std::string(info.param.name); });

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
