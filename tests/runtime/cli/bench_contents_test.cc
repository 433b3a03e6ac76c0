#include "runtime/cli/bench_contents.h"

#include <gtest/gtest.h>

#include <cstring>

namespace fibocast {
namespace {

template <class T>
T element(const std::vector<std::byte>& vector, std::size_t i) {
  T value;
  std::memcpy(&value, vector.data() + i * sizeof value, sizeof value);
  return value;
}

TEST(BenchContents, EveryRepetitionHasItsOwnAndASeedRepeatsThem) {
  for (const std::uint64_t bytes : {1, 7, 8, 1001}) EXPECT_EQ(message_contents(1, 0, bytes).size(), bytes);
  EXPECT_EQ(message_contents(3, 4, 100), message_contents(3, 4, 100));
  EXPECT_NE(message_contents(3, 4, 100), message_contents(3, 5, 100));
  EXPECT_NE(message_contents(3, 4, 100), message_contents(2, 4, 100));
  EXPECT_TRUE(message_contents(1, 0, 0).empty());
}

TEST(BenchContents, SumsAreThoseOfTheVectors) {
  const VectorContents contents = vector_contents(1, 2, ElementType::kFloat, 5, 16);
  ASSERT_EQ(contents.vectors.size(), 16u);
  for (std::size_t i = 0; i < 5; ++i) {
    double sum = 0;
    for (const auto& vector : contents.vectors) sum += element<float>(vector, i);
    EXPECT_EQ(element<float>(contents.sum, i), sum);
  }
  EXPECT_NE(contents.vectors[0], contents.vectors[1]);
  EXPECT_NE(contents.sum, vector_contents(1, 3, ElementType::kFloat, 5, 16).sum);
  EXPECT_EQ(vector_contents(1, 2, ElementType::kInt64, 5, 3).sum.size(), 40u);
}

TEST(BenchContents, ADifferenceIsNamedWithItsPlace) {
  const auto sent = message_contents(1, 0, 100);
  EXPECT_TRUE(compare_contents(3, sent, sent).ok());
  auto came = sent;
  came[70] ^= std::byte{1};
  EXPECT_EQ(compare_contents(3, came, sent).code, Code::kFailed);
  EXPECT_EQ(compare_contents(3, came, sent).sentence, "rank 3 got wrong contents from byte 70 on");
  came.pop_back();
  EXPECT_EQ(compare_contents(3, came, sent).sentence, "rank 3 got 99 bytes instead of 100");
  EXPECT_EQ(compare_contents(3, {}, sent).sentence, "rank 3 got 0 bytes instead of 100");
}

}  // namespace
}  // namespace fibocast
