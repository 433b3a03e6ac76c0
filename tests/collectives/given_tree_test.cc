#include "collectives/given_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "collectives/forecast_trees.h"
#include "collectives/predict.h"
#include "collectives/tree_binomial.h"
#include "collectives/tree_heterogeneous.h"
#include "collectives/tree_mesh.h"
#include "collectives/tree_view.h"
#include "collectives/validate.h"

namespace fibocast {
namespace {

// Each rank but the root below a rank that has been placed before it, children in any order.
Tree random_tree(Rank ranks, std::mt19937& random) {
  std::vector<Rank> order(ranks), parents(ranks, kNoRank);
  for (Rank v = 0; v < ranks; ++v) order[v] = v;
  std::ranges::shuffle(order, random);
  for (Rank i = 1; i < ranks; ++i) parents[order[i]] = order[random() % i];
  std::ranges::shuffle(order, random);
  return Tree::from_parents(parents, order);
}

Plan plan_of(const std::vector<TreeTableEntry>& entries, bool both = true) {
  Plan plan;
  plan.distribution.kind = TreeKind::kGiven;
  if (both) plan.reduction.kind = TreeKind::kGiven;
  plan.given = TreeTable(entries);
  return plan;
}

OperationShape shape_of(Operation operation, Rank ranks) {
  OperationShape shape{operation, ranks};
  if (operation == Operation::kBarrier) return shape;
  shape.total_bytes = 1000, shape.segment_bytes = operation == Operation::kReduce ? 0 : 300;
  if (combines(operation)) shape.type = ElementType::kInt64, shape.op = CombineOperator::kSum;
  return shape;
}

constexpr Operation kAlongTrees[] = {Operation::kBarrier, Operation::kMulticast, Operation::kReduce,
                                     Operation::kAllreduce};

TEST(GivenTree, IsTheSameSeenByEachRank) {
  std::mt19937 random(1);
  for (Rank p = 1; p <= 64; ++p) {
    const Tree tree = random_tree(p, random);
    const auto entries = table_of(tree);
    const Tree turned = tree.rotated(p - tree.root());
    const Tree back = tree_of(TreeTable(entries));
    for (Rank v = 0; v < p; ++v) {
      const TreeView view({.kind = TreeKind::kGiven}, p, v, TreeTable(entries));
      ASSERT_EQ(view.parent(), turned.parent(v));
      ASSERT_EQ(back.parent(v), turned.parent(v));
      ASSERT_TRUE(std::ranges::equal(back.children(v), turned.children(v)));
      ASSERT_EQ(view.children(), turned.children(v).size());
      for (Rank i = 0; i < view.children(); ++i) {
        ASSERT_EQ(view.child(i), turned.children(v)[i]);
        ASSERT_EQ(view.source(i), turned.children(v)[view.children() - 1 - i]);
      }
    }
  }
}

TEST(GivenTree, EveryOperationIsProvedOnRandomTrees) {
  std::mt19937 random(2);
  for (Rank p = 1; p <= 64; ++p) {
    const auto entries = table_of(random_tree(p, random));
    for (const Operation operation : kAlongTrees)
      for (const bool both : {true, false}) {
        const auto schedule = build_schedule(plan_of(entries, both), shape_of(operation, p));
        ASSERT_TRUE(schedule.has_value());
        const Validation proof = validate(*schedule);
        ASSERT_TRUE(proof.ok) << p << " ranks: " << proof.message;
        ASSERT_TRUE(proof.same_bits);
      }
  }
}

TEST(GivenTree, KeepsTheOrderOfRanksOnlyInContiguousSubtreesSentDownwards) {
  const auto keeps = [](const Tree& tree) {
    const auto entries = table_of(tree);
    return validate(build_schedule(plan_of(entries), shape_of(Operation::kReduce, tree.size())).value()).keeps_order;
  };
  EXPECT_TRUE(keeps(tree_binomial(16)));
  const std::vector<Rank> scattered = {kNoRank, 0, 0, 1, 2};  // below 1 is 3, below 2 is 4
  EXPECT_FALSE(keeps(Tree::from_parents(scattered, SendOrder::kDescending)));
}

// The two owners of times agree: the message by message evaluation and the tree's formula (A1, A3, A30).
TEST(GivenTree, PredictedTimesAreTheTreesOwn) {
  std::mt19937 random(3);
  for (const auto& [send, occupancy] : {std::pair{27u, 88u}, {88u, 27u}, {1u, 1u}}) {
    CostModel model;
    model.send = send, model.occupancy = occupancy;
    for (Rank p = 1; p <= 64; ++p) {
      const auto entries = table_of(random_tree(p, random));
      const Tree tree = tree_of(TreeTable(entries));
      const Plan plan = plan_of(entries);
      const OperationShape down{Operation::kMulticast, p};
      const auto predicted = predict(build_schedule(plan, down).value(), model);
      ASSERT_TRUE(predicted.has_value());
      ASSERT_EQ(predicted->active, activation_times(tree, send, occupancy));
      ASSERT_EQ(predicted->completion, completion(tree, send, occupancy));
      OperationShape up = shape_of(Operation::kReduce, p);
      up.total_bytes = 0;
      ASSERT_EQ(predict(build_schedule(plan, up).value(), model)->active[0],
                reduction_completion(tree, send, occupancy));
      ASSERT_EQ(forecast_trees(plan, {Operation::kMulticast, p, 0, 0, {Algorithm::kTrees}}, model)->completion,
                predicted->completion);
    }
  }
}

TEST(GivenTree, AHeterogeneousAndAMeshTreeAreProvedToo) {
  const HeterogeneousCosts costs = {.nodes = {{1, 2}, {5, 6}, {1, 2}, {5, 6}, {1, 2}, {1, 2}, {5, 6}}, .link = 3};
  for (const Tree& tree : {tree_heterogeneous(costs, 4), tree_mesh(4)}) {
    const auto entries = table_of(tree);
    for (const Operation operation : kAlongTrees)
      EXPECT_TRUE(validate(build_schedule(plan_of(entries), shape_of(operation, tree.size())).value()).ok);
  }
}

TEST(GivenTree, IsForExactlyItsRanks) {
  const auto entries = table_of(tree_binomial(8));
  for (const Operation operation : kAlongTrees) {
    EXPECT_FALSE(build_schedule(plan_of(entries), shape_of(operation, 7)).has_value());
    EXPECT_FALSE(build_schedule(plan_of({}), shape_of(operation, 7)).has_value());
  }
  EXPECT_FALSE(forecast_trees(plan_of(entries), {Operation::kMulticast, 7, 0, 0, {Algorithm::kTrees}}, {}).has_value());
}

// Their blocks are ranges of ranks: the plan falls back on a tree that has them.
TEST(GivenTree, ScatterAndGatherTakeABinomialTree) {
  std::mt19937 random(4);
  const auto entries = table_of(random_tree(13, random));
  for (const Operation operation :
       {Operation::kScatter, Operation::kGather, Operation::kAllgather, Operation::kAlltoall}) {
    const auto schedule = build_schedule(plan_of(entries), {operation, 13, 64});
    ASSERT_TRUE(schedule.has_value());
    EXPECT_TRUE(validate(*schedule).ok);
  }
  EXPECT_FALSE(build_schedule(plan_of(entries), {Operation::kGather, 13, 64, 0, {Algorithm::kTrees}}).has_value());
  Plan plan = plan_of(entries);
  set_choice(plan, Operation::kMulticast, 1, {Algorithm::kScatterAllgather});
  EXPECT_TRUE(validate(build_schedule(plan, {Operation::kMulticast, 13, 13 * 400}).value()).ok);
}

TEST(GivenTree, NoChoiceNamesIt) {
  EXPECT_FALSE(is_known(Operation::kBarrier, {Algorithm::kTrees, TreeKind::kGiven}));
  EXPECT_FALSE(is_known(Operation::kMulticast, choice_of(32 + 6)));
}

TEST(GivenTree, PlansAreComparedWithTheirTrees) {
  const auto a = table_of(tree_binomial(8)), b = table_of(tree_binomial(8)), c = table_of(tree_mesh(3));
  EXPECT_EQ(plan_of(a), plan_of(b));
  EXPECT_FALSE(plan_of(a) == plan_of(c));
}

struct BadLists {
  std::vector<Rank> parents, order;
  const char* sentence;
};

TEST(GivenTree, ListsThatAreNoTreeAreExplained) {
  constexpr Rank kNone = kNoRank;
  const BadLists cases[] = {
      {{kNone, 0}, {}, "the tree has 2 ranks and the group 3"},
      {{kNone, 0, 3}, {}, "the parent 3 is no rank"},
      {{kNone, 0, kNone}, {}, "the tree has 2 roots instead of one"},
      {{2, 0, 1}, {}, "the tree has 0 roots instead of one"},
      {{kNone, 2, 1}, {}, "some ranks of the tree are not below the root: their parents go round in a circle"},
      {{kNone, 0, 0}, {1, 3}, "the send order names 3, which is no rank"},
      {{kNone, 0, 0}, {1, 1, 2}, "the send order names rank 1 twice"},
      {{kNone, 0, 0}, {0, 1}, "the send order does not name rank 2"},
  };
  for (const BadLists& c : cases) {
    std::string error;
    EXPECT_FALSE(tree_of_lists(c.parents, c.order, 3, error).has_value());
    EXPECT_EQ(error, c.sentence);
  }
}

TEST(GivenTree, ListsAreInAnyOrderTheRootMayBeMissing) {
  std::string error;
  const auto tree = tree_of_lists(std::vector<Rank>{2, 2, kNoRank}, std::vector<Rank>{1, 0}, 3, error);
  ASSERT_TRUE(tree.has_value()) << error;
  EXPECT_EQ(tree->root(), 2u);
  EXPECT_EQ(tree->children(2)[0], 1u);
  EXPECT_TRUE(tree_of_lists(std::vector<Rank>{2, 2, kNoRank}, {}, 3, error).has_value());
}

}  // namespace
}  // namespace fibocast
