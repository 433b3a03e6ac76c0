#include "collectives/catalog_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "collectives/algorithm_catalog.h"

namespace fibocast {
namespace {

TEST(CatalogTable, TheReadmeIsUpToDate) {
  const std::ifstream file(FIBOCAST_SOURCE_DIR "/collectives/README.md");
  std::ostringstream readme;
  readme << file.rdbuf();
  const std::string expected = std::string(kCatalogTableBegin) + catalog_table() + kCatalogTableEnd;
  EXPECT_NE(readme.str().find(expected), std::string::npos)
      << "put the output of `fibocast plan catalog --markdown` between the marks in collectives/README.md:\n"
      << catalog_table();
}

TEST(CatalogTable, HasARowForEachAlgorithm) {
  const std::string table = catalog_table();
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(table, '\n')), algorithm_catalog().size() + 2);
}

}  // namespace
}  // namespace fibocast
