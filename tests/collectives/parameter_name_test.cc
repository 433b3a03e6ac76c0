// Alpha and lambda are read exactly or refused.
#include "collectives/parameter_name.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

TEST(ShareName, IsReadExactly) {
  EXPECT_EQ(parse_alpha("0.5"), 5000);
  EXPECT_EQ(parse_alpha("0.95"), 9500);
  EXPECT_EQ(parse_alpha("0.999"), 9990);
  EXPECT_EQ(parse_alpha("0.0001"), 1);
  EXPECT_EQ(parse_alpha("1"), 10'000);
  EXPECT_EQ(parse_alpha("19/20"), 9500);
}

TEST(ShareName, IsNothingOutsideOfItsRange) {
  for (const char* wrong : {"", "0", "1.0001", "2", "0.00001", "1/3", "-0.5", "0.5us", "half"})
    EXPECT_FALSE(parse_alpha(wrong)) << wrong;
}

TEST(ShareName, IsWrittenAsItIsRead) {
  for (const std::uint16_t alpha : {1, 3000, 5000, 9500, 9990, 10'000})
    EXPECT_EQ(parse_alpha(alpha_text(alpha)), alpha);
  EXPECT_EQ(alpha_text(7000), "0.7");
  EXPECT_EQ(alpha_text(10'000), "1");
}

TEST(LambdaName, IsReadExactlyOrRefused) {
  EXPECT_EQ(parse_lambda("1"), 100);
  EXPECT_EQ(parse_lambda("2.25"), 225);
  EXPECT_EQ(parse_lambda("9/4"), 225);
  EXPECT_EQ(parse_lambda("655.35"), 65'535);
  for (const char* wrong : {"", "0", "0.99", "2.251", "7/3", "655.36", "70000", "-2", "2us", "L"})
    EXPECT_FALSE(parse_lambda(wrong)) << wrong;
}

TEST(LambdaName, IsWrittenAsItIsRead) {
  for (const std::uint16_t lambda : {100, 125, 250, 6400, 65'535}) EXPECT_EQ(parse_lambda(lambda_text(lambda)), lambda);
  EXPECT_EQ(lambda_text(250), "2.5");
  EXPECT_EQ(lambda_text(6400), "64");
}

}  // namespace
}  // namespace fibocast
