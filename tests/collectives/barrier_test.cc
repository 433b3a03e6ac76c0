#include "collectives/barrier.h"

#include <gtest/gtest.h>

#include "collectives/schedule.h"
#include "tests/collectives/machines.h"

namespace fibocast {
namespace {

using test::kMannaPlan;

std::string text(Rank ranks, Rank me) { return to_text(build_rank_part(kMannaPlan, {.ranks = ranks}, me).value(), me); }

TEST(Barrier, RootReceivesAllThenSendsLargestSubtreeFirst) {
  EXPECT_EQ(text(5, 0),
            "rank 0\n"
            "  stage 0 after - repeat 1 not_before 0 waits_for_arrival\n"
            "    receive 1 token in stage 0\n"
            "    receive 2 token in stage 0\n"
            "    receive 3 token in stage 0\n"
            "  stage 1 after 0 repeat 1 not_before 0\n"
            "    send 4 token in stage 1\n"
            "    send 3 token in stage 1\n"
            "    send 2 token in stage 1\n"
            "    send 1 token in stage 1\n");
}

TEST(Barrier, OthersHaveOneParentInEachTree) {
  EXPECT_EQ(text(5, 4),
            "rank 4\n"
            "  stage 0 after - repeat 1 not_before 0 waits_for_arrival\n"
            "    send 3 token in stage 0\n"
            "  stage 1 after 0 repeat 1 not_before 0\n"
            "    receive 0 token in stage 1\n");
}

TEST(Barrier, OneRankHasStagesAndNoTransfers) {
  const auto part = build_rank_part(kMannaPlan, {.ranks = 1}, 0);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->stages.size(), 2u);
  EXPECT_TRUE(part->transfers.empty());
}

TEST(Barrier, TwoMessagesForEachRankButTheRoot) {
  for (Rank p : {1u, 2u, 19u, 200u}) {
    const auto schedule = build_schedule(kMannaPlan, {.ranks = p});
    ASSERT_TRUE(schedule);
    std::uint32_t sends = 0;
    for (const RankPart& part : schedule->ranks)
      for (const Stage& stage : part.stages) sends += stage.sends;
    EXPECT_EQ(sends, 2 * (p - 1));
  }
}

TEST(Barrier, ARankOfAThousandMillion) {
  const auto part = build_rank_part(kMannaPlan, {.ranks = 1'000'000'000}, 123'456'789);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->stages.size(), 2u);
  EXPECT_LT(part->transfers.size(), 200u);
}

}  // namespace
}  // namespace fibocast
