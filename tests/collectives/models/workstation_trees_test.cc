#include "collectives/models/workstation_trees.h"

#include <gtest/gtest.h>

#include "tests/collectives/children.h"
#include "tests/collectives/models/workstation_costs.h"

namespace fibocast {
namespace {

using enum WorkstationPreset;
using test::children;
using test::machine;
using Ranks = std::vector<Rank>;

Rational time(const std::string& tree, const std::string& letters, WorkstationPreset preset, std::uint64_t bytes) {
  const TickedWorkstations m = machine(letters, preset, bytes);
  std::string error;
  return m.time(completion(choose_workstation_tree(tree, m.costs, 0, error).value(), m.costs));
}

TEST(WorkstationTrees, C14SlowFirst) {
  const Tree tree = tree_slow_first(machine("FFSFS", kFolded, 0).costs, 1);
  EXPECT_EQ(tree.root(), 1u);
  EXPECT_EQ(children(tree, 1), (Ranks{2, 4, 0, 3}));
}

TEST(WorkstationTrees, C14Hierarchical) {
  const Tree tree = tree_hierarchical(machine("SFSFSFS", kFolded, 0).costs, 3);
  EXPECT_EQ(children(tree, 3), (Ranks{1, 5, 0, 6}));
  EXPECT_EQ(children(tree, 1), (Ranks{2}));
  EXPECT_EQ(children(tree, 5), (Ranks{4}));
}

TEST(WorkstationTrees, C15EightNodesByTheMessageSize) {
  for (const std::uint64_t m : {0, 100, 4000, 16000}) {
    EXPECT_EQ(time("hierarchical", "FFFFSSSS", kFolded, m), Rational(490) + Rational(47, 100) * m);
    EXPECT_EQ(time("slow-first", "FFFFSSSS", kFolded, m), Rational(530) + Rational(46, 100) * m);
    EXPECT_EQ(time("hierarchical", "FFFFSSSS", kLiteral, m), Rational(522) + Rational(47, 100) * m);
    EXPECT_EQ(time("slow-first", "FFFFSSSS", kLiteral, m), Rational(546) + Rational(46, 100) * m);
  }
}

TEST(WorkstationTrees, C15Crossovers) {
  for (const auto& [preset, crossover] : {std::pair{kFolded, 4000u}, std::pair{kLiteral, 2400u}}) {
    EXPECT_LT(time("hierarchical", "FFFFSSSS", preset, crossover - 1),
              time("slow-first", "FFFFSSSS", preset, crossover - 1));
    EXPECT_EQ(time("hierarchical", "FFFFSSSS", preset, crossover), time("slow-first", "FFFFSSSS", preset, crossover));
    EXPECT_GT(time("hierarchical", "FFFFSSSS", preset, crossover + 1),
              time("slow-first", "FFFFSSSS", preset, crossover + 1));
  }
}

TEST(WorkstationTrees, C15TheBinomialTreeIsTheWorstOnEightNodes) {
  for (const WorkstationPreset preset : {kFolded, kLiteral}) {
    for (const char* letters : {"FFFFSSSS", "FSFSFSFS", "FSSSSFFF"}) {
      for (std::uint64_t m = 0; m <= 16384; m += 32) {
        const Rational binomial = time("binomial", letters, preset, m);
        ASSERT_GT(binomial, time("slow-first", letters, preset, m)) << letters << ' ' << m;
        ASSERT_GT(binomial, time("hierarchical", letters, preset, m)) << letters << ' ' << m;
      }
    }
  }
}

TEST(WorkstationTrees, C15SixteenNodes) {
  const std::string together = "FFFFFFFFSSSSSSSS";
  for (const std::uint64_t m : {0, 100, 4000, 16384, 1'000'000}) {
    const Rational hierarchical = time("hierarchical", together, kFolded, m);
    EXPECT_EQ(hierarchical, Rational(730) + Rational(67, 100) * m);
    EXPECT_EQ(time("slow-first", together, kFolded, m), Rational(1010) + Rational(86, 100) * m);
    EXPECT_LT(hierarchical, time("binomial", together, kFolded, m));
    EXPECT_LT(hierarchical, time("binomial", "FSSSSSSSSFFFFFFF", kFolded, m));
  }
  EXPECT_EQ(time("binomial", "FSFSFSFSFSFSFSFS", kFolded, 0), Rational(710));
}

struct BestOfEight {
  std::uint64_t bytes;
  const char* literal;
  const char* folded;
  const char* best_of_paper;  // literal
};

TEST(WorkstationTrees, C16TheOptimumOfEightNodes) {
  const BestOfEight cases[] = {{0, "432", "410", "522"},
                               {1024, "810.88", "778.88", "1003.28"},
                               {4096, "1947.52", "1915.52", "2430.16"},
                               {16384, "6494.08", "6462.08", "8082.64"}};
  for (const BestOfEight& c : cases) {
    EXPECT_EQ(time("optimum", "FFFFSSSS", kLiteral, c.bytes).to_decimal_string(), c.literal);
    EXPECT_EQ(time("optimum", "FFFFSSSS", kFolded, c.bytes).to_decimal_string(), c.folded);
    const Rational best =
        std::min({time("binomial", "FFFFSSSS", kLiteral, c.bytes), time("slow-first", "FFFFSSSS", kLiteral, c.bytes),
                  time("hierarchical", "FFFFSSSS", kLiteral, c.bytes)});
    EXPECT_EQ(best.to_decimal_string(), c.best_of_paper);
  }
}

TEST(WorkstationTrees, NodesOfOneKindAreAllFast) {
  EXPECT_EQ(slow_nodes(machine("SSS", kFolded, 0).costs), std::vector<bool>(3, false));
  EXPECT_EQ(slow_nodes(machine("SFS", kFolded, 0).costs), (std::vector<bool>{true, false, true}));
}

TEST(WorkstationTrees, Names) {
  const HeterogeneousCosts costs = machine("FSFSF", kFolded, 10).costs;
  std::string error;
  for (const char* name : {"heterogeneous", "heterogeneous:best", "heterogeneous:plain", "slow-first", "hierarchical",
                           "optimum", "binomial", "sequential", "kary:3", "binomial:doubling"}) {
    const auto tree = choose_workstation_tree(name, costs, 2, error);
    ASSERT_TRUE(tree) << name << error;
    EXPECT_TRUE(tree->is_valid() && tree->root() == 2) << name;
  }
  EXPECT_FALSE(choose_workstation_tree("fibo", costs, 0, error));
  EXPECT_EQ(error, "the tree \"fibo\" needs one s and r for all nodes: use heterogeneous");
  EXPECT_FALSE(choose_workstation_tree("best", costs, 0, error));
  EXPECT_NE(error.find("heterogeneous:plain"), std::string::npos);
  EXPECT_FALSE(choose_workstation_tree("optimum", machine("FFFFSSSSF", kFolded, 0).costs, 0, error));
  EXPECT_EQ(error, "the optimum is searched for up to 8 nodes");
}

}  // namespace
}  // namespace fibocast
