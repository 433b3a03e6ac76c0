// What was measured to be the fastest: as text, and in a plan.
#include "collectives/measured_choice.h"

#include <gtest/gtest.h>

#include "collectives/planner.h"

namespace fibocast {
namespace {

constexpr const char* kText = "barrier,16,0=sequential multicast,16,8=kary:3 allgather,5,70000=ring";

std::vector<MeasuredChoice> parsed(const std::string& text) {
  std::string error;
  const auto choices = parse_measured_choices(text, error);
  EXPECT_TRUE(choices) << error;
  return choices.value_or(std::vector<MeasuredChoice>());
}

TEST(MeasuredChoice, IsWrittenAsItIsRead) {
  EXPECT_EQ(to_text(parsed(kText)), kText);
  EXPECT_TRUE(parsed("").empty());
}

TEST(MeasuredChoice, WhatIsNoneIsOneSentence) {
  for (const char* text :
       {"barrier", "barrier,16=sequential", "barrier,0,0=sequential", "barrier,16,0=no_such", "divide,16,0=share:0.5",
        "barrier,16,0sequential", "barrier,16,-1=sequential", "x,1,1=fibo"}) {
    std::string error;
    EXPECT_FALSE(parse_measured_choices(text, error)) << text;
    EXPECT_FALSE(error.empty()) << text;
  }
  std::string many, error;
  for (std::size_t i = 0; i <= kMostMeasuredChoices; ++i) many += "barrier," + std::to_string(i + 1) + ",0=sequential ";
  EXPECT_FALSE(parse_measured_choices(many, error));
}

TEST(MeasuredChoice, HoldsForItsRanksAndSizesOnly) {
  const auto choices = parsed(kText);
  EXPECT_NE(find_measured(choices, Operation::kMulticast, 16, 1'000), nullptr);
  EXPECT_EQ(find_measured(choices, Operation::kMulticast, 16, 2'000), nullptr);
  EXPECT_EQ(find_measured(choices, Operation::kMulticast, 17, 8), nullptr);
  EXPECT_EQ(find_measured(choices, Operation::kReduce, 16, 8), nullptr);
}

TEST(MeasuredChoice, CountsMoreThanThePrediction) {
  const CostModel manna{.send = 27, .latency = 44, .occupancy = 44};
  const auto measured = parsed("barrier,16,0=kary:1 multicast,16,8=sequential");
  const Plan plan = plan_for(manna, 16, {}, {}, measured);
  EXPECT_EQ(planned_choice(plan, Operation::kBarrier, 0), measured[0].choice);
  EXPECT_EQ(planned_choice(plan, Operation::kMulticast, 1'000), measured[1].choice);
  Plan other = plan_for(manna, 16);
  EXPECT_NE(planned_choice(other, Operation::kBarrier, 0), measured[0].choice);
  EXPECT_EQ(planned_choice(plan, Operation::kMulticast, 16384), planned_choice(other, Operation::kMulticast, 16384));
  EXPECT_EQ(plan_for(manna, 15, {}, {}, measured), plan_for(manna, 15));
  Limits few;
  few.transfers = 8;  // 15 children do not fit
  EXPECT_EQ(plan_for(manna, 16, few, {}, parsed("multicast,16,8=sequential")), plan_for(manna, 16, few));
}

}  // namespace
}  // namespace fibocast
