#include "runtime/cli/given_tree_option.h"

#include <gtest/gtest.h>

#include <fstream>

#include "collectives/models/workstation_trees.h"
#include "collectives/tree_mesh.h"
#include "runtime/cli/bench_case.h"

namespace fibocast {
namespace {

std::string written(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(GivenTreeOption, KnowsWhatIsNoFormula) {
  for (const char* name : {"file:x", "mesh", "heterogeneous", "heterogeneous:best", "hierarchical", "slow-first"})
    EXPECT_TRUE(is_given_tree(name)) << name;
  for (const char* name : {"fibo", "binomial", "kary:3", "", "meshes"}) EXPECT_FALSE(is_given_tree(name)) << name;
  EXPECT_TRUE(is_given_tree("binomial", {.file = "nodes"}));
}

TEST(GivenTreeOption, AFileKeepsItsRootAndItsOrder) {
  const auto tree = given_tree_of("file:" + written("tree", "1 - 1 1\norder 1 2 0 3"), {}, 4);
  ASSERT_TRUE(tree.ok()) << tree.status().sentence;
  EXPECT_EQ(Result<GivenTree>(tree)->parents, (std::vector<Rank>{1, kNoRank, 1, 1}));
  EXPECT_EQ(Result<GivenTree>(tree)->order, (std::vector<Rank>{1, 2, 0, 3}));
}

TEST(GivenTreeOption, DifferentNodesHaveTheTreeOfPlan) {
  const std::string file = written("nodes", "nodes fast 1\nnodes slow 2\nnodes fast 4\n");
  auto tree = given_tree_of("hierarchical", {.file = file, .bytes = 100}, 7);
  ASSERT_TRUE(tree.ok()) << tree.status().sentence;
  std::string error;
  const auto cluster = read_nodes({.file = file}, error);
  const Tree expected = tree_hierarchical(workstations_in_ticks(*cluster, 100).costs, 0);
  EXPECT_EQ(tree->parents, std::vector<Rank>(expected.parents().begin(), expected.parents().end()));
  EXPECT_EQ(tree->order, expected.from_root_down());
}

TEST(GivenTreeOption, AMeshHas2ToTheNRanks) {
  auto tree = given_tree_of("mesh", {}, 16);
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(tree->order, tree_mesh(4).from_root_down());
  EXPECT_EQ(tree->parents[15], kNoRank);
  EXPECT_FALSE(given_tree_of("mesh", {}, 12).ok());
  EXPECT_FALSE(given_tree_of("mesh", {}, 0).ok());
}

TEST(GivenTreeOption, MistakesAreSentences) {
  const std::string nodes = written("nodes3", "nodes fast 3\n");
  const auto sentence = [](const std::string& name, const NodesOptions& options = {}) {
    const auto tree = given_tree_of(name, options, 4);
    EXPECT_FALSE(tree.ok()) << name;
    EXPECT_EQ(tree.status().code, Code::kInvalid);
    return tree.status().sentence;
  };
  const std::string few = "file:" + written("few", "- 0 0");
  EXPECT_EQ(sentence(few), "the tree \"" + few + "\" has 3 ranks and the group 4");
  EXPECT_EQ(sentence("file:/nowhere/tree"), "the file /nowhere/tree cannot be read or is empty");
  EXPECT_NE(sentence("file:" + written("two", "- 0 - 0")).find("second root"), std::string::npos);
  EXPECT_NE(sentence("file:" + written("circle", "- 2 3 1")).find("circle"), std::string::npos);
  EXPECT_EQ(sentence("heterogeneous"), "the tree \"heterogeneous\" needs --nodes with each node's costs");
  EXPECT_EQ(sentence("mesh", {.file = nodes}), "the costs are those of 3 nodes, and the group has 4 ranks");
  EXPECT_NE(sentence("oak", {.configuration = "FFSS"}).find("there is no tree \"oak\""), std::string::npos);
}

TEST(GivenTreeOption, ACaseOfTheBenchMayNameAFile) {
  const std::string path = written("chain", "- 0 1");
  auto result = parse_case(Json{{"p", 3}, {"tree", "file:" + path}}, 1);
  ASSERT_TRUE(result.ok()) << result.status().sentence;
  ASSERT_TRUE(result->tree);
  EXPECT_EQ(result->tree->parents, (std::vector<Rank>{kNoRank, 0, 1}));
  EXPECT_FALSE(parse_case(Json{{"p", 4}, {"tree", "file:" + path}}, 1).ok());
}

}  // namespace
}  // namespace fibocast
