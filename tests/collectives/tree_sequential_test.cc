#include "collectives/tree_sequential.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

TEST(TreeSequential, A19) {
  EXPECT_EQ(completion(tree_sequential(1), 27, 88), 0u);
  for (Rank p = 2; p <= 100; ++p) EXPECT_EQ(completion(tree_sequential(p), 27, 88), (p - 1) * 27u + 88);
}

}  // namespace
}  // namespace fibocast
