// The children of a rank as a value, to be compared with a list.
#pragma once

#include <vector>

#include "collectives/tree.h"

namespace fibocast::test {

inline std::vector<Rank> children(const Tree& tree, Rank v) {
  return {tree.children(v).begin(), tree.children(v).end()};
}

}  // namespace fibocast::test
