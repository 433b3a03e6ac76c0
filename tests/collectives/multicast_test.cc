#include "collectives/multicast.h"

#include <gtest/gtest.h>

#include "collectives/schedule.h"
#include "tests/collectives/machines.h"

namespace fibocast {
namespace {

using test::kMannaPlan;

TEST(Multicast, OneStageRepeatedForEachSegment) {
  const OperationShape shape{.operation = Operation::kMulticast, .ranks = 7, .total_bytes = 100, .segment_bytes = 30};
  EXPECT_EQ(to_text(build_rank_part(kMannaPlan, shape, 0).value(), 0),
            "rank 0\n"
            "  stage 0 after - repeat 4 not_before 0 waits_for_arrival\n"
            "    send 5 payload in stage 0\n"
            "    send 4 payload in stage 0\n"
            "    send 3 payload in stage 0\n"
            "    send 2 payload in stage 0\n"
            "    send 1 payload in stage 0\n");
  EXPECT_EQ(to_text(build_rank_part(kMannaPlan, shape, 5).value(), 5),
            "rank 5\n"
            "  stage 0 after - repeat 4 not_before 0\n"
            "    receive 0 payload in stage 0\n"
            "    send 6 payload in stage 0\n");
}

TEST(Multicast, OneRankHasAStageAndNoTransfers) {
  const auto part = build_rank_part(kMannaPlan, {.operation = Operation::kMulticast, .ranks = 1, .total_bytes = 5}, 0);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->stages.size(), 1u);
  EXPECT_TRUE(part->stages[0].waits_for_arrival);
  EXPECT_TRUE(part->transfers.empty());
}

}  // namespace
}  // namespace fibocast
