// The papers' figures, and rows of them, by name.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/models/figures.h"

namespace fibocast::test {

using Row = std::vector<std::string>;

// "003:4"
inline FigureTable figure(std::string_view id) {
  const auto entry = find_figure(id);
  EXPECT_TRUE(entry) << id;
  return entry ? entry->make() : FigureTable{};
}

// The first row that begins like this: the cells after those.
inline Row row(const FigureTable& table, const Row& begin) {
  for (const Row& row : table.rows)
    if (std::equal(begin.begin(), begin.end(), row.begin()))
      return {row.begin() + static_cast<long>(begin.size()), row.end()};
  ADD_FAILURE() << begin.front();
  return {};
}

}  // namespace fibocast::test
