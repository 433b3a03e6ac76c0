#include "runtime/wire/policy_text.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

TEST(PolicyText, WhatIsPrintedCanBeRead) {
  for (const char* text : {"all", "survivors", "quorum:4", "quorum:7"}) {
    PolicyChoice choice;
    EXPECT_EQ(read_policy(text, 7, choice), "");
    EXPECT_EQ(policy_text(choice.policy, choice.quorum), text);
  }
  PolicyChoice choice{GroupPolicy::kSurvivors, 0};
  EXPECT_EQ(read_policy("", 7, choice), "");
  EXPECT_EQ(choice.policy, GroupPolicy::kAll);
}

TEST(PolicyText, AMistakeSaysWhatIsAllowed) {
  PolicyChoice choice;
  EXPECT_EQ(read_policy("most", 7, choice),
            "no policy 'most'; allowed: all, survivors, quorum:K with K more than half");
  for (const char* text : {"quorum:3", "quorum:8", "quorum:", "quorum:4x", "quorum:-1", "quorum:99999999999"})
    EXPECT_NE(read_policy(text, 7, choice).find("allowed: 4 to 7"), std::string::npos) << text;
  EXPECT_EQ(choice.policy, GroupPolicy::kAll);
}

}  // namespace
}  // namespace fibocast
