// The part of forecast() that is about trees. What a rank waits for comes from its children, then from its parent, so
// each rank is evaluated once, whatever the number of ranks. For tools, not the core.
#pragma once

#include "collectives/forecast.h"
#include "collectives/tree.h"

namespace fibocast {

// All of a tree that ranks see a part of through TreeView, with the same numbers. Preconditions: is_valid(spec);
// kGiven: `given` is a valid table of so many ranks.
Tree whole_tree(const TreeSpec& spec, Rank ranks, const TreeTable& given = {});

// As forecast(). Precondition: shape.choice.algorithm == Algorithm::kTrees.
std::optional<Forecast> forecast_trees(const Plan& plan, const OperationShape& shape, const CostModel& model);

}  // namespace fibocast
