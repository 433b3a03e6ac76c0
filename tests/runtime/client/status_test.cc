#include "runtime/client/status.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

TEST(Status, ExitCodesAreThoseOfTheCommand) {
  const std::vector<std::pair<Code, int>> table = {
      {Code::kOk, 0},       {Code::kFailed, 1},      {Code::kInvalid, 2},   {Code::kDeadlineExceeded, 3},
      {Code::kPeerLost, 4}, {Code::kUnavailable, 5}, {Code::kRefused, 6},   {Code::kCancelled, 1},
      {Code::kMismatch, 1}, {Code::kStale, 1},       {Code::kWouldBlock, 1}};
  for (const auto& [code, exit_code] : table)
    EXPECT_EQ(Status({code, "", {}}).exit_code(), exit_code) << code_name(code);
}

TEST(Status, NamesAreDistinct) {
  EXPECT_EQ(code_name(Code::kDeadlineExceeded), "DEADLINE_EXCEEDED");
  EXPECT_EQ(code_name(Code::kOk), "OK");
}

TEST(Result, HoldsAValueOrAReason) {
  Result<int> value = 3;
  EXPECT_TRUE(value.ok());
  EXPECT_EQ(*value, 3);
  const Result<int> failure = Status{Code::kInvalid, "no", {}};
  EXPECT_FALSE(failure.ok());
  EXPECT_EQ(failure.status().sentence, "no");
}

}  // namespace
}  // namespace fibocast
