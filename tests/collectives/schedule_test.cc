#include "collectives/schedule.h"

#include <gtest/gtest.h>

#include "tests/collectives/machines.h"

namespace fibocast {
namespace {

using test::kMannaPlan;

TEST(Schedule, TextRoundTrip) {
  for (const Operation operation : {Operation::kBarrier, Operation::kMulticast})
    for (Rank p : {1u, 2u, 3u, 19u, 100u}) {
      const auto schedule = build_schedule(kMannaPlan, {operation, p, 1000, 300});
      ASSERT_TRUE(schedule);
      std::string error;
      const auto back = parse_schedule(to_text(*schedule), error);
      ASSERT_TRUE(back) << error;
      EXPECT_EQ(to_text(*back), to_text(*schedule));
      EXPECT_EQ(back->shape.total_bytes, 1000u);
    }
}

TEST(Schedule, TextSaysEverything) {
  const std::string text =
      "schedule multicast ranks 2 bytes 100 segment 60 algorithm fibo\n"
      "rank 0\n"
      "  stage 0 after - repeat 2 not_before 7 waits_for_arrival\n"
      "    send 1 blocks 3 2 in stage 1\n"
      "rank 1\n"
      "  stage 0 after - repeat 1 not_before 0\n"
      "  stage 1 after 0 repeat 2 not_before 0\n"
      "    receive 0 blocks 3 2 in stage 1\n"
      "    send 0 partial TS in stage 0\n";
  std::string error;
  const auto schedule = parse_schedule(text, error);
  ASSERT_TRUE(schedule) << error;
  EXPECT_EQ(schedule->ranks[0].stages[0].not_before, 7);
  EXPECT_EQ(schedule->ranks[1].transfers[0].first_block, 3u);
  EXPECT_EQ(schedule->ranks[1].stages[1].after, 0);
  EXPECT_EQ(to_text(*schedule), text);
}

TEST(Schedule, AWrongTextNamesTheLine) {
  const std::string head = "schedule barrier ranks 1 bytes 0 segment 0 algorithm fibo\nrank 0\n";
  const auto error_of = [](const std::string& text) {
    std::string error;
    EXPECT_FALSE(parse_schedule(text, error)) << text;
    return error;
  };
  EXPECT_NE(error_of(head + "  stage 0 after x repeat 1 not_before 0\n").find("line 3"), std::string::npos);
  for (const char* repeat : {"-26", "1048577"})  // such a stage would be checked for minutes
    error_of(head + "  stage 0 after - repeat " + repeat + " not_before 0\n");
  EXPECT_NE(error_of(head + "    send 1 token in stage 0\n").find("line 3"), std::string::npos);
  EXPECT_NE(error_of("schedule dance ranks 1 bytes 0 segment 0 algorithm fibo\n").find("line 1"), std::string::npos);
  EXPECT_NE(error_of("schedule barrier ranks 1 bytes 0 segment 0 algorithm fibo more\n").find("line 1"),
            std::string::npos);
  EXPECT_NE(error_of("schedule barrier ranks 2 bytes 0 segment 0 algorithm fibo\nrank 0\n").find("1 ranks"),
            std::string::npos);
  const std::string stage = head + "  stage 0 after - repeat 1 not_before 0\n";
  EXPECT_NE(error_of(stage + "    send 1 gift in stage 0\n").find("line 4"), std::string::npos);
  EXPECT_NE(error_of(stage + "    send 1 token in stage 999\n").find("line 4"), std::string::npos);
  EXPECT_NE(error_of(stage + "    send 1 token in stage 0\n    receive 1 token in stage 0\n").find("line 5"),
            std::string::npos);
}

TEST(Schedule, RefusesAnInvalidPlan) {
  EXPECT_FALSE(build_schedule({.reduction = {.s = 0}, .distribution = {}}, {.ranks = 3}));
  EXPECT_FALSE(build_rank_part(kMannaPlan, {.ranks = 3}, 3));
}

}  // namespace
}  // namespace fibocast
