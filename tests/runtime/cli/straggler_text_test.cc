#include "runtime/cli/straggler_text.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

TEST(StragglerText, OneSentence) {
  EXPECT_EQ(straggler_sentence({3, 203'000'000}), "rank 3 came last, 203 ms after the others");
  EXPECT_EQ(straggler_sentence({}), "who came last is not known");
}

TEST(StragglerText, ATableOfTheSlowest) {
  GroupInfo group;
  group.name = "gate";
  EXPECT_EQ(slowest_text(group), "");
  group.slowest = {{3, 12, 2'500'000'000, 203'000'000, 0}, {11, 1, 40'000, 40'000, 7}};
  EXPECT_EQ(slowest_text(group),
            "\n"
            "slowest ranks of group 'gate'\n"
            "rank   came last    in total     at most\n"
            "   3    12 times       2.5 s      203 ms\n"
            "  11     1 times       40 us       40 us\n");
}

TEST(StragglerText, ColumnsOfLargeNumbersStayApart) {
  GroupInfo group;
  group.slowest = {{3, 11'908'069, 2'500'000'000, 203'000'000, 0}};
  EXPECT_NE(slowest_text(group).find("   3 11908069 times "), std::string::npos) << slowest_text(group);
}

TEST(StragglerText, Json) {
  EXPECT_EQ(to_json(Straggler{3, 5}).dump(), R"({"rank":3,"late_ns":5})");
  EXPECT_EQ(to_json(SlowRank{3, 2, 7, 5, 1}).dump(),
            R"({"rank":3,"times":2,"total_late_ns":7,"largest_late_ns":5,"unseen_late_ns":1})");
}

}  // namespace
}  // namespace fibocast
