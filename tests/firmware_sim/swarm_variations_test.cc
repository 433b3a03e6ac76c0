// The swarm's variations: other paths and other habits of applications and daemons, over the same scenarios.
#include <gtest/gtest.h>

#include <string>

#include "firmware_sim/checkers/checkers.h"
#include "firmware_sim/swarm_changes.h"
#include "firmware_sim/swarm_lives.h"
#include "firmware_sim/swarm_run.h"
#include "firmware_sim/swarm_scenario.h"
#include "firmware_sim/swarm_streams.h"
#include "firmware_sim/swarm_trouble.h"

namespace fibocast {
namespace {

using Vary = void (*)(Scenario& scenario);

void expect_kept(std::uint64_t seed, Vary vary, const char* flag) {
  Scenario scenario = scenario_of(seed);
  vary(scenario);
  const SwarmResult result = run_scenario(scenario);
  EXPECT_TRUE(result.finished) << "seed " << seed;
  EXPECT_EQ(check_all(result.history), Findings{}) << "again: fibocast_swarm " << flag << " --seed " << seed << "\n"
                                                   << describe(scenario);
}

void change_and_give_lives(Scenario& scenario) { let_change(scenario), give_lives(scenario); }
void change_over_streams(Scenario& scenario) { use_streams(scenario), let_change(scenario); }

struct Variation {
  const char* name;
  const char* flag;
  Vary vary;
  std::uint64_t first, seeds;
};

class SwarmVariation : public testing::TestWithParam<Variation> {};

TEST_P(SwarmVariation, KeepsEveryPromise) {
  const Variation& v = GetParam();
  const std::uint64_t seeds = FIBOCAST_SANITIZED ? v.seeds / 10 : v.seeds;
  for (std::uint64_t seed = v.first; seed < v.first + seeds && !HasFailure(); ++seed) expect_kept(seed, v.vary, v.flag);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SwarmVariation,
                         testing::Values(Variation{"Ahead", "--ahead", go_ahead, 1, 60},
                                         Variation{"Streams", "--streams", use_streams, 1, 80},
                                         Variation{"Streams81", "--streams", use_streams, 81, 80},
                                         Variation{"Lives", "--lives", give_lives, 1, 100},
                                         Variation{"Lives101", "--lives", give_lives, 101, 100},
                                         Variation{"Changes", "--changes", let_change, 1, 40},
                                         Variation{"ChangesLives", "--changes --lives", change_and_give_lives, 1, 40},
                                         Variation{"ChangesStreams", "--changes --streams", change_over_streams, 1,
                                                   30}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(SwarmChanges, RemoveGroupsLetDaemonsLeaveAndTheClusterGrow) {
  constexpr std::uint64_t kSeeds = FIBOCAST_SANITIZED ? 5 : 20;
  std::size_t removed = 0, left = 0, grown = 0;
  for (std::uint64_t seed = 41; seed < 41 + kSeeds; ++seed) {
    Scenario scenario = scenario_of(seed);
    let_change(scenario);
    left += scenario.leaves.size(), grown += scenario.growth.has_value();
    for (const HistoryGroup& group : run_scenario(scenario).history.groups) removed += group.removed != kNever;
  }
  EXPECT_GE(removed, kSeeds / 2);
  EXPECT_GE(left, kSeeds);
  EXPECT_GE(grown, kSeeds / 10);
}

// Seeds that once found a fault, and which.
struct VariedFault {
  Vary vary;
  const char* flag;
  std::uint64_t seed;
  const char* name;
};

VariedFault ahead(std::uint64_t seed, const char* name) { return {go_ahead, "--ahead", seed, name}; }
VariedFault streams(std::uint64_t seed, const char* name) { return {use_streams, "--streams", seed, name}; }
VariedFault lives(std::uint64_t seed, const char* name) { return {give_lives, "--lives", seed, name}; }
VariedFault changes(std::uint64_t seed, const char* name) { return {let_change, "--changes", seed, name}; }

class SwarmVariationRegression : public testing::TestWithParam<VariedFault> {};

TEST_P(SwarmVariationRegression, IsNotThereAnyMore) { expect_kept(GetParam().seed, GetParam().vary, GetParam().flag); }

INSTANTIATE_TEST_SUITE_P(Seeds, SwarmVariationRegression,
                         testing::Values(ahead(900340, "WindowThatHadMovedByOneWasNotToldToWhoWaitedForIt"),
                                         ahead(1007662, "StreamWaitedForAWordThatWasLostWithItsSlot"),
                                         ahead(202763, "WhatWasSentToTheSessionBeforeWasMissedForEver"),
                                         ahead(34114, "NewPlanForAGroupThatAMemberDidNotKnowYetEndedItsFirstOperation"),
                                         ahead(53519, "PassesFilledTheTableOfRequests"),
                                         // As daemons do, they repeat a pass that their node has no room for.
                                         ahead(10859, "ApplicationsDidNotRepeatWhatTheyOwed"),
                                         streams(3, "LivingWereTakenForDeadWhenTheirConnectionsBroke"),
                                         streams(255, "WhoseConnectionsBrokeWentOnAlone"),
                                         streams(63466, "NoRoomForCallsWhileAMemberWasLostInAChange"),
                                         streams(88038, "GroupWhoseMakerHadDiedStayedUnknownToAMember"),
                                         lives(2, "WhoCameLateWasToldOkWithoutThePayload"),
                                         lives(14, "LostNodeWasCalledADeadCaller"),
                                         lives(182, "ReturnedCallerTookThePlaceOfOneThatDiedLater"),
                                         lives(1211, "SenderTookThePlaceOfADeadReceiver"),
                                         lives(3106, "NewParticipantBeganWhereACallWaitedAlready"),
                                         lives(3127, "ShellOpenedTheGenerationThatWipedItOut"),
                                         lives(3594, "ReturnedCallerWasNotToldOfItsScheduledCall"),
                                         lives(4237, "NewParticipantBeganWhereTheDeadOneWasLost"),
                                         lives(30325, "ReleaseWasNotPassedOnWhereTheCallerWasLost"),
                                         lives(81653, "WhoseParentHadNoRoomWasNotToldOfTheFailure"),
                                         lives(100012, "DeadCallerWasNamedForAMemberThatWasLostInAChange"),
                                         changes(813, "RemoverThatWasToldOfItsRemovalDidNotTellTheOthers"),
                                         changes(373, "RemoverAndMakerOfTheNextGroupAskedEachOtherWithoutAPause"),
                                         changes(868, "MembersKeptHalfAGroupWhoseMakerHadLeft"),
                                         changes(2108, "WhoConnectedDuringARemovalWasNotToldOfIt"),
                                         changes(1841, "RemovalsWereToldBackAndForthWithoutAPause"),
                                         changes(2520, "AnswerToAFormerMakerWasTakenForARemoval"),
                                         changes(32874, "WindowOfAGroupBeingRemovedWasToldAndRefusedWithoutAPause"),
                                         changes(565, "CallOfAStartedNodeWasReleasedByItsFormerLife"),
                                         changes(51020, "RemovalWasForgottenForManyThatWereNeverMade"),
                                         changes(50457, "MemberThatMadeTheGroupOnceMoreWasLeftWithoutIt"),
                                         changes(4517, "TwoThatReadTheFileWhileTheyMetRefusedEachOther"),
                                         changes(6578, "AnswerAboutARemovedGroupSpokeOfTheNext"),
                                         changes(715, "WindowWaitedForWhoKnowsTheNewFileOnly"),
                                         changes(562, "WindowWasToldInVainToWhoHadNotReadTheFile")),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(SwarmChangesRegression, ScheduledCallOfARemovedGroupWasToldToBeTheFirst) {
  for (const std::uint64_t seed : {5, 31}) expect_kept(seed, change_and_give_lives, "--changes --lives");
}

TEST(SwarmChangesRegression, PlaceOfADeadCallerWasTakenInTheNextGroup) {
  for (const std::uint64_t seed : {504, 435}) expect_kept(seed, change_and_give_lives, "--changes --lives");
}

TEST(SwarmChangesRegression, CallerThatDiedWaitingForTheWindowCountedTwice) {
  expect_kept(31726, change_and_give_lives, "--changes --lives");
}

TEST(SwarmChangesRegression, MemberThatWasStoppedWhileTheOthersReadTheFileStayedRefused) {
  const Vary vary = [](Scenario& scenario) { go_ahead(scenario), let_change(scenario); };
  expect_kept(10140, vary, "--ahead --changes");
}

}  // namespace
}  // namespace fibocast
