#include "collectives/combine_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace fibocast {
namespace {

template <class T>
std::vector<T> combined(CombineOperator op, ElementType type, const std::vector<T>& left, const std::vector<T>& right) {
  std::vector<T> out(left.size());
  const auto bytes = [](const std::vector<T>& v) { return reinterpret_cast<const std::byte*>(v.data()); };
  combine_elements(op, type, bytes(left), bytes(right), reinterpret_cast<std::byte*>(out.data()),
                   out.size() * sizeof(T));
  return out;
}

using Int = std::int32_t;

TEST(CombineKernel, EachOperatorOnIntegers) {
  const std::vector<Int> a = {6, -3}, b = {3, 5};
  const auto on = [&](CombineOperator op) { return combined(op, ElementType::kInt32, a, b); };
  EXPECT_EQ(on(CombineOperator::kMin), (std::vector<Int>{3, -3}));
  EXPECT_EQ(on(CombineOperator::kMax), (std::vector<Int>{6, 5}));
  EXPECT_EQ(on(CombineOperator::kSum), (std::vector<Int>{9, 2}));
  EXPECT_EQ(on(CombineOperator::kProd), (std::vector<Int>{18, -15}));
  EXPECT_EQ(on(CombineOperator::kAnd), (std::vector<Int>{2, 5}));
  EXPECT_EQ(on(CombineOperator::kOr), (std::vector<Int>{7, -3}));
  EXPECT_EQ(on(CombineOperator::kXor), (std::vector<Int>{5, -8}));
}

TEST(CombineKernel, IntegersWrapAround) {
  using Wide = std::int64_t;
  const std::vector<Wide> most = {std::numeric_limits<Wide>::max()}, one = {1}, two = {2};
  EXPECT_EQ(combined(CombineOperator::kSum, ElementType::kInt64, most, one)[0], std::numeric_limits<Wide>::min());
  EXPECT_EQ(combined(CombineOperator::kProd, ElementType::kInt64, most, two)[0], -2);
}

TEST(CombineKernel, UnsignedComparesAsUnsigned) {
  const std::vector<std::uint64_t> big = {~0ull}, small = {1};
  EXPECT_EQ(combined(CombineOperator::kMax, ElementType::kUint64, big, small)[0], ~0ull);
}

TEST(CombineKernel, LeftWinsWhereNothingCompares) {
  const std::vector<double> nan = {std::nan("")}, number = {1.5};
  EXPECT_TRUE(std::isnan(combined(CombineOperator::kMin, ElementType::kDouble, nan, number)[0]));
  EXPECT_EQ(combined(CombineOperator::kMax, ElementType::kDouble, number, nan)[0], 1.5);
  EXPECT_EQ(combined(CombineOperator::kSum, ElementType::kFloat, std::vector<float>{0.5f}, {0.25f})[0], 0.75f);
}

TEST(CombineKernel, ElementsMayLieAnywhereAndReplaceAnOperand) {
  std::vector<std::byte> memory(1 + 2 * sizeof(Int));
  const Int values[] = {4, 5};
  std::memcpy(memory.data() + 1, values, sizeof values);
  combine_elements(CombineOperator::kSum, ElementType::kInt32, memory.data() + 1, memory.data() + 5, memory.data() + 5,
                   sizeof(Int));
  Int sum = 0;
  std::memcpy(&sum, memory.data() + 5, sizeof sum);
  EXPECT_EQ(sum, 9);
}

TEST(CombineKernel, BitwiseOperatorsAreForIntegers) {
  EXPECT_TRUE(is_defined(CombineOperator::kXor, ElementType::kInt32));
  EXPECT_FALSE(is_defined(CombineOperator::kXor, ElementType::kDouble));
  EXPECT_FALSE(is_defined(CombineOperator::kSum, ElementType::kBytes));
  EXPECT_FALSE(is_defined(CombineOperator::kNone, ElementType::kInt32));
}

}  // namespace
}  // namespace fibocast
