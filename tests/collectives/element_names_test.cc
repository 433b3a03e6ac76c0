#include "collectives/element_names.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

TEST(ElementNames, EveryTypeIsFoundByItsName) {
  std::string error;
  for (int value = 0; value <= static_cast<int>(ElementType::kDouble); ++value) {
    const auto type = static_cast<ElementType>(value);
    EXPECT_EQ(element_type_by_name(element_type_name(type), error), type);
  }
  EXPECT_EQ(element_type_by_name("uint64", error), ElementType::kUint64);
}

TEST(ElementNames, EveryOperatorIsFoundByItsName) {
  std::string error;
  for (int value = 1; value <= static_cast<int>(CombineOperator::kXor); ++value) {
    const auto op = static_cast<CombineOperator>(value);
    EXPECT_EQ(combine_operator_by_name(combine_operator_name(op), error), op);
  }
  EXPECT_EQ(combine_operator_by_name("prod", error), CombineOperator::kProd);
}

TEST(ElementNames, UnknownWordsAreOneSentence) {
  std::string error;
  EXPECT_FALSE(element_type_by_name("quaternion", error));
  EXPECT_EQ(error, "there is no type \"quaternion\"; there are bytes, int32, int64, uint64, float, double");
  EXPECT_FALSE(combine_operator_by_name("none", error));
  EXPECT_EQ(error, "there is no operator \"none\"; there are min, max, sum, prod, and, or, xor");
}

}  // namespace
}  // namespace fibocast
