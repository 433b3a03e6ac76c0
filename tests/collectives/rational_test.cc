#include "collectives/rational.h"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

namespace fibocast {
namespace {

TEST(Rational, ParsesExactly) {
  EXPECT_EQ(parse_quantity("9/5"), (Quantity{{9, 5}, false}));
  EXPECT_EQ(parse_quantity("1.8"), (Quantity{{9, 5}, false}));
  EXPECT_EQ(parse_quantity("18/10")->value, Rational(9, 5));
  EXPECT_EQ(parse_quantity("27"), (Quantity{27, false}));
  EXPECT_EQ(parse_quantity("27us"), (Quantity{27000, true}));
  EXPECT_EQ(parse_quantity("27000ns"), (Quantity{27000, true}));
  EXPECT_EQ(parse_quantity("3ms"), (Quantity{3'000'000, true}));
  EXPECT_EQ(parse_quantity("1.5s"), (Quantity{1'500'000'000, true}));
  EXPECT_EQ(parse_quantity("0.0005us"), (Quantity{{1, 2}, true}));
  EXPECT_EQ(parse_quantity("0"), (Quantity{0, false}));
}

TEST(Rational, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "us", "-1", "1/0", "1/", "/2", "1.", ".5", "1.2.3", "1/2/3", "27 us", "27m", "1e3",
                           "0x10", "99999999999999999999", "18446744073709551615s", "0.0000000000000000001"})
    EXPECT_FALSE(parse_quantity(text)) << text;
}

TEST(Rational, PrintsInLowestTerms) {
  EXPECT_EQ(Rational(18, 10).to_string(), "9/5");
  EXPECT_EQ(Rational(4, 2).to_string(), "2");
  EXPECT_EQ(Rational(0, 7).to_string(), "0");
  EXPECT_EQ(Rational(9, 5).to_decimal_string(), "1.8");
  EXPECT_EQ(Rational(1, 3).to_decimal_string(), "1/3");
  EXPECT_EQ(Rational(41, 20).to_decimal_string(), "2.05");
}

TEST(Rational, CalculatesExactly) {
  EXPECT_EQ(Rational(1, 10) + Rational(2, 10), Rational(3, 10));
  EXPECT_EQ(Rational(9, 5) - Rational(1), Rational(4, 5));
  EXPECT_EQ(Rational(9, 5) * Rational(5, 9), Rational(1));
  EXPECT_EQ(Rational(9, 5) / Rational(3), Rational(3, 5));
  EXPECT_LT(Rational(1, 3), Rational(1, 2));
  EXPECT_GT(Rational(UINT64_MAX), Rational(UINT64_MAX, 2));
}

TEST(Rational, DetectsOverflow) {
  EXPECT_THROW(Rational(UINT64_MAX) + Rational(1), std::overflow_error);
  EXPECT_THROW(Rational(UINT64_MAX) * Rational(2), std::overflow_error);
  EXPECT_THROW(Rational(1, UINT64_MAX) / Rational(2), std::overflow_error);
  EXPECT_THROW(Rational(1, UINT64_MAX) + Rational(1, UINT64_MAX - 1), std::overflow_error);
  EXPECT_EQ(Rational(UINT64_MAX, 3) * Rational(3), Rational(UINT64_MAX));
  EXPECT_THROW(Rational(1) - Rational(2), std::domain_error);
  EXPECT_THROW(Rational(1) / Rational(0), std::domain_error);
  EXPECT_THROW(Rational(1, 0), std::invalid_argument);
}

TEST(Rational, CommonTicks) {
  const std::array<Rational, 3> values = {Rational(1, 2), Rational(2, 3), Rational(3)};
  const CommonTicks common = to_common_ticks(values);
  EXPECT_EQ(common.unit, Rational(1, 6));
  EXPECT_EQ(common.ticks, (std::vector<std::uint64_t>{3, 4, 18}));
  const std::array<Rational, 2> hopeless = {Rational(1, UINT64_MAX), Rational(1, UINT64_MAX - 1)};
  EXPECT_THROW(to_common_ticks(hopeless), std::overflow_error);
}

}  // namespace
}  // namespace fibocast
