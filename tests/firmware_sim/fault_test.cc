#include "firmware_sim/fault.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

using Kind = Fault::Kind;

TEST(Fault, ConcernsWhomItNames) {
  const Fault some{.kind = Kind::kLoss, .nodes = {1, 4}};
  EXPECT_TRUE(concerns(some, 1) && concerns(some, 4));
  EXPECT_FALSE(concerns(some, 0) || concerns(some, 3));
  EXPECT_TRUE(concerns(loss(0.5), 3));  // none named: all
  EXPECT_FALSE(concerns({.kind = Kind::kCrash, .nodes = {}}, 3));
}

TEST(Fault, ThatIsRightHasNoObjection) {
  EXPECT_EQ(objection(loss(0), 1), "");
  EXPECT_EQ(objection(duplicates(1), 1), "");
  EXPECT_EQ(objection({.kind = Kind::kPartition, .begins = 1, .heals = 2, .nodes = {0, 1}}, 2), "");
  EXPECT_EQ(objection({.kind = Kind::kSlow, .nodes = {3}, .time = 1}, 4), "");
  EXPECT_EQ(objection({.kind = Kind::kClockJump, .nodes = {3}, .time = 1}, 4), "");
}

TEST(Fault, EveryMistakeIsASentence) {
  EXPECT_EQ(objection({.kind = Kind::kLoss, .begins = -1, .nodes = {}}, 2), "loss: it heals before it begins");
  EXPECT_EQ(objection({.kind = Kind::kLoss, .begins = 5, .heals = 5, .nodes = {}}, 2),
            "loss: it heals before it begins");
  for (const double probability : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(objection(duplicates(probability), 2), "duplicate: the probability is not within 0 to 1");
  for (const Kind kind : {Kind::kReorder, Kind::kDelay, Kind::kSlow, Kind::kClockJump})
    EXPECT_EQ(objection({.kind = kind, .nodes = {0}}, 2), std::string(kind_name(kind)) + ": needs a time above 0");
  EXPECT_EQ(objection({.kind = Kind::kPause, .nodes = {1, 0}}, 2), "pause: the nodes are not in ascending order");
  EXPECT_EQ(objection({.kind = Kind::kPause, .nodes = {0, 2}}, 2), "pause: node 2 is not one of the 2");
  for (const Kind kind : {Kind::kPartition, Kind::kOneWay, Kind::kPause, Kind::kCrash})
    EXPECT_EQ(objection({.kind = kind, .nodes = {}}, 2), std::string(kind_name(kind)) + ": needs nodes");
}

TEST(Fault, IsDescribedInWords) {
  EXPECT_EQ(describe(loss(0.2)), "loss 20 % from 0 ms on");
  EXPECT_EQ(describe({.kind = Kind::kDelay,
                      .begins = 1'500'000,
                      .heals = 2'050'000'000,
                      .nodes = {1, 4},
                      .probability = 0.5,
                      .time = 3'000'000}),
            "delay 50 % of 3 ms of 1,4 from 1.5 ms to 2050 ms");
  EXPECT_EQ(describe({.kind = Kind::kCrash, .begins = 50'000, .nodes = {7}}), "crash of 7 from 0.05 ms on");
  EXPECT_EQ(describe({.kind = Kind::kSlow, .nodes = {0}, .time = 1'234'567}), "slow of 1.234 ms of 0 from 0 ms on");
}

}  // namespace
}  // namespace fibocast
