// Fat trees as they are written: "constant", "exponential", "1,2,2".
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "collectives/models/fat_tree.h"

namespace fibocast::test {

inline FatTree fat_tree(std::uint64_t leaves, std::string_view capacities = "constant") {
  std::string error;
  const auto tree = make_fat_tree(leaves, capacities, error);
  EXPECT_TRUE(tree) << error;
  return tree.value();
}

}  // namespace fibocast::test
