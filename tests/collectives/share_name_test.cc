// The fraction alpha is read exactly or refused.
#include "collectives/share_name.h"

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

}  // namespace
}  // namespace fibocast
