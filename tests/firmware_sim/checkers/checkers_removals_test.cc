// The checker of groups that are made and removed finds what was planted.
#include <gtest/gtest.h>

#include "tests/firmware_sim/checkers/story.h"

namespace fibocast {
namespace {

constexpr CreationId kFirst = 11, kOther = 12;

// Two nodes at the end of their run; the group was to have both as members.
struct Ends : test::Story {
  Ends() {
    for (NodeEnd& end : history.ends) end.up = true;
  }
  void has(NodeId node, CreationId creation) { history.ends[node].groups.push_back(creation); }
  bool is_right() const { return check_removals(history).empty(); }
};

TEST(RemovalChecker, FindsAGroupThatNobodyMade) {
  Ends ends;
  ends.has(0, kOther), ends.has(1, kOther);
  EXPECT_FALSE(ends.is_right());
  ends.history.groups[0].attempts.push_back({kOther});
  EXPECT_TRUE(ends.is_right());
}

TEST(RemovalChecker, FindsHalfAGroup) {
  Ends ends;
  ends.history.groups[0].attempts.push_back({kFirst});
  ends.has(1, kFirst);
  EXPECT_FALSE(ends.is_right());
  ends.history.groups[0].attempts[0].removed = true;
  EXPECT_TRUE(ends.is_right()) << "who removed it may be gone, too";
  ends.history.groups[0].attempts[0].removed = false;
  ends.history.ends[0].up = false;
  EXPECT_TRUE(ends.is_right()) << "it was not there to take it";
}

TEST(RemovalChecker, FindsAMemberThatLacksItsGroup) {
  Ends ends;
  ends.history.groups[0].creation = kFirst;
  ends.has(1, kFirst);
  EXPECT_FALSE(ends.is_right());
  ends.has(0, kFirst);
  EXPECT_TRUE(ends.is_right());
}

TEST(RemovalChecker, FindsAGroupThatWasRemoved) {
  Ends ends;
  ends.history.groups[0].creation = kFirst;
  ends.has(0, kFirst), ends.has(1, kFirst);
  ends.history.groups[0].removed = 5'000;
  EXPECT_TRUE(ends.is_right()) << "nobody is left who knows of it";
  ends.history.groups[0].removals.push_back({5'000, 1});
  EXPECT_FALSE(ends.is_right());
}

}  // namespace
}  // namespace fibocast
