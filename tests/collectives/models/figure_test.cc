#include "collectives/models/figure.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

TEST(Figure, NumbersAreShortAndWholeOnesWhole) {
  EXPECT_EQ(number_text(311), "311");
  EXPECT_EQ(number_text(1.6180339887), "1.618034");
  EXPECT_EQ(number_text(0.5), "0.5");
}

}  // namespace
}  // namespace fibocast
