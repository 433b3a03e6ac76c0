#include "collectives/validate.h"

#include <gtest/gtest.h>

#include "tests/collectives/machines.h"

namespace fibocast {
namespace {

using test::kMannaPlan;

Schedule barrier(Rank ranks) { return build_schedule(kMannaPlan, {.ranks = ranks}).value(); }
Schedule multicast(Rank ranks) { return build_schedule(kMannaPlan, {Operation::kMulticast, ranks, 1000, 300}).value(); }
Schedule schedule_of_text(const std::string& text) {
  std::string error;
  return parse_schedule(text, error).value();
}

void expect_wrong(const Schedule& schedule, const std::string& why) {
  const Validation result = validate(schedule);
  EXPECT_FALSE(result.ok);
  EXPECT_NE(result.message.find(why), std::string::npos) << result.message;
}

// Removes transfer `index` of a stage.
void drop(RankPart& part, std::size_t stage, std::uint32_t index) {
  Stage& changed = part.stages[stage];
  part.transfers.erase(part.transfers.begin() + changed.first_transfer + index);
  --(index < changed.receives ? changed.receives : changed.sends);
  for (std::size_t i = stage + 1; i < part.stages.size(); ++i) --part.stages[i].first_transfer;
}

TEST(Validate, ProvesEveryTreeForBothOperations) {
  const TreeSpec specs[] = {{.kind = TreeKind::kSequential},
                            {.kind = TreeKind::kBinomial},
                            {.kind = TreeKind::kKary, .arity = 3},
                            {.s = 27, .r = 88},
                            {.s = 88, .r = 27},
                            {.kind = TreeKind::kLambda, .s = 5, .r = 4}};
  for (const TreeSpec& up : specs)
    for (const TreeSpec& down : specs)
      for (Rank p : {1u, 2u, 3u, 7u, 19u, 64u, 150u}) {
        const Plan plan{up, down, 0};
        const Validation b = validate(build_schedule(plan, {.ranks = p}).value());
        ASSERT_TRUE(b.ok) << b.message;
        const Validation m = validate(build_schedule(plan, {Operation::kMulticast, p, 1000, 300}).value());
        ASSERT_TRUE(m.ok) << m.message;
      }
}

TEST(Validate, EveryNumberOfRanksUpTo200) {
  for (Rank p = 1; p <= 200; ++p) {
    ASSERT_TRUE(validate(barrier(p)).ok) << p;
    ASSERT_TRUE(validate(multicast(p)).ok) << p;
  }
}

TEST(Validate, SaysWhatWasProved) {
  EXPECT_NE(validate(barrier(19)).message.find("no rank can be released before all have arrived"), std::string::npos);
  EXPECT_NE(validate(multicast(19)).message.find("each of 4 segments once and in order"), std::string::npos);
}

TEST(Validate, ADroppedReceive) {
  Schedule schedule = barrier(19);
  drop(schedule.ranks[0], 0, 0);
  EXPECT_FALSE(validate(schedule).ok);
  schedule = multicast(19);
  drop(schedule.ranks[1], 0, 0);
  expect_wrong(schedule, "rank 1");
}

TEST(Validate, ADroppedSend) {
  Schedule schedule = barrier(19);
  drop(schedule.ranks[0], 1, 0);
  expect_wrong(schedule, "waits for ever for rank 0");
}

TEST(Validate, ASwappedPeer) {
  Schedule schedule = barrier(19);
  Transfer& to_parent = schedule.ranks[18].transfers[0];
  to_parent.peer = to_parent.peer == 1 ? 2 : 1;
  EXPECT_FALSE(validate(schedule).ok);
}

TEST(Validate, AnEarlyRelease) {
  // Rank 2 is forgotten by the reduction: nobody waits for it.
  expect_wrong(schedule_of_text("schedule barrier ranks 3 bytes 0 segment 0 algorithm fibo\n"
                                "rank 0\n"
                                "  stage 0 after - repeat 1 not_before 0 waits_for_arrival\n"
                                "    receive 1 token in stage 0\n"
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
                                "  stage 1 after 0 repeat 1 not_before 0\n"
                                "    receive 0 token in stage 1\n"),
               "rank 0 can be released before rank 2 has arrived");
}

TEST(Validate, AStageThatDoesNotWaitForTheLocalCall) {
  Schedule schedule = barrier(19);
  schedule.ranks[7].stages[0].waits_for_arrival = false;
  expect_wrong(schedule, "before rank 7 has arrived");
}

TEST(Validate, ADistributionThatStartsBeforeTheReductionEnds) {
  Schedule schedule = barrier(19);
  schedule.ranks[0].stages[1].after = kNoStage;
  expect_wrong(schedule, "can be released before");
}

TEST(Validate, ACyclicWait) {
  expect_wrong(schedule_of_text("schedule barrier ranks 2 bytes 0 segment 0 algorithm fibo\n"
                                "rank 0\n"
                                "  stage 0 after - repeat 1 not_before 0 waits_for_arrival\n"
                                "    receive 1 token in stage 0\n"
                                "    send 1 token in stage 0\n"
                                "rank 1\n"
                                "  stage 0 after - repeat 1 not_before 0 waits_for_arrival\n"
                                "    receive 0 token in stage 0\n"
                                "    send 0 token in stage 0\n"),
               "rank 0, stage 0 waits for ever for rank 1");
  Schedule schedule = barrier(2);
  schedule.ranks[0].stages[0].after = 1;
  expect_wrong(schedule, "waits for ever");
}

TEST(Validate, AMissingSegment) {
  Schedule schedule = multicast(19);
  schedule.ranks[0].stages[0].repeat = 3;
  EXPECT_FALSE(validate(schedule).ok);
  schedule = multicast(19);
  for (RankPart& part : schedule.ranks) part.stages[0].repeat = 3;
  expect_wrong(schedule, "gets 3 of 4 segments");
}

TEST(Validate, APayloadThatComesTwice) {
  Schedule schedule = multicast(3);
  const std::uint8_t stage = 0;
  schedule.ranks[1].transfers.push_back({.peer = 2, .stage = stage, .carries = Carries::kPayload});
  ++schedule.ranks[1].stages[0].sends;
  schedule.ranks[2].transfers.insert(schedule.ranks[2].transfers.begin(),
                                     {.peer = 1, .stage = stage, .carries = Carries::kPayload});
  ++schedule.ranks[2].stages[0].receives;
  expect_wrong(schedule, "gets a segment twice");
}

TEST(Validate, NonsenseIsRefused) {
  Schedule schedule = barrier(3);
  schedule.ranks[0].transfers[0].peer = 99;
  expect_wrong(schedule, "impossible peer");
  schedule = barrier(3);
  schedule.ranks[0].stages[1].after = 7;
  expect_wrong(schedule, "does not exist");
  schedule = barrier(3);
  schedule.ranks[0].stages[0].receives = 100;
  expect_wrong(schedule, "outside");
  schedule = barrier(3);
  schedule.ranks.pop_back();
  expect_wrong(schedule, "number of ranks");
}

}  // namespace
}  // namespace fibocast
