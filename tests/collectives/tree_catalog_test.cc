#include "collectives/tree_catalog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "collectives/tree_view.h"
#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

Tree build(std::string_view name, Rank p, const TreeParameters& parameters = {}) {
  std::string error;
  return choose_tree(name, parameters, error).value().build(p);
}

TEST(TreeCatalog, GoldenCostsOfAllTrees) {
  const std::map<std::string, std::pair<std::string, TreeParameters>> trees = {
      {"seq", {"sequential", {}}},
      {"nary2", {"binary", {}}},
      {"nary4", {"kary:4", {}}},
      {"nary8", {"kary:8", {}}},
      {"bin_mask", {"binomial:mask", {}}},
      {"bin_halving", {"binomial:halving", {}}},
      {"bin_doubling", {"binomial:doubling", {}}},
      {"fibo10", {"binomial", {}}},
      {"fibo11", {"fibo", {.s = 1, .r = 1}}},
      {"fibo12", {"fibo", {.s = 1, .r = 2}}},
      {"fibo13", {"fibo", {.s = 1, .r = 3}}}};
  for (const auto& entry : test::golden("fibo.json", "costs"))
    for (std::size_t i = 0; i < entry["p"].size(); ++i) {
      const auto cost = [&](const std::string& name, const TreeParameters& parameters) {
        return completion(build(name, entry["p"][i], parameters), entry["s"], entry["r"]);
      };
      for (const auto& [key, tree] : trees) EXPECT_EQ(cost(tree.first, tree.second), entry[key][i]) << key;
      EXPECT_EQ(cost("fibo", {.s = entry["s"], .r = entry["r"]}), entry["fibo"][i]);
      EXPECT_EQ(cost("lambda", {.s = entry["s"], .r = entry["r"]}), entry["fibo"][i]);
    }
}

TEST(TreeCatalog, EveryEntryBuilds) {
  for (const TreeCatalogEntry& entry : tree_catalog()) {
    const std::string name = entry.name == "kary:K" ? "kary:3" : std::string(entry.name);
    EXPECT_FALSE(entry.description.empty());
    EXPECT_TRUE(build(name, 100).is_valid()) << name;
  }
}

TEST(TreeCatalog, SpecsAreTheTreesThatDaemonsRun) {
  std::string error;
  for (const char* name : {"sequential", "binary", "kary:5", "binomial", "fibo", "lambda"}) {
    const TreeParameters parameters{.s = 2, .r = 5, .construction = LambdaConstruction::kDescent};
    const auto choice = choose_tree(name, parameters, error);
    ASSERT_TRUE(choice && choice->spec) << name;
    const Tree tree = choice->build(77);
    for (Rank v = 0; v < 77; ++v) EXPECT_EQ(TreeView(*choice->spec, 77, v).parent(), tree.parent(v)) << name;
  }
  EXPECT_FALSE(choose_tree("binomial:mask", {}, error)->spec);
}

TEST(TreeCatalog, EveryConstructionOfLambdaIsOptimalButAFixedAlpha) {
  for (const char* name : {"queue", "bottomup", "alpha", "descent"}) {
    const TreeParameters parameters{.s = 5, .r = 4, .construction = construction_by_name(name).value()};
    EXPECT_EQ(completion(build("lambda", 64, parameters), 5, 4), 46u) << name;
  }
  const TreeParameters half{.s = 5, .r = 4, .construction = LambdaConstruction::kAlpha, .alpha = Rational(1, 2)};
  EXPECT_EQ(completion(build("lambda", 64, half), 5, 4), 54u);
  EXPECT_FALSE(construction_by_name("sideways"));
}

TEST(TreeCatalog, AnUnknownNameListsTheAllowedOnes) {
  for (const char* name :
       {"", "fib", "kary", "kary:", "kary:0", "kary:x", "kary:2x", "binomial:", "binomial:K", "fibo:1"}) {
    std::string error;
    EXPECT_FALSE(choose_tree(name, {}, error)) << name;
    EXPECT_NE(error.find("sequential, binary, kary:K, binomial"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace fibocast
