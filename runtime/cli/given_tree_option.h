// Trees that are no formula on the command line of what runs them: `group create`, `bench distribution`.
#pragma once

#include <string>

#include "runtime/cli/plan_nodes.h"
#include "runtime/client/participant.h"

namespace fibocast {

// file:PATH, mesh, the names of trees for different nodes (heterogeneous, hierarchical, ..), and every name where nodes
// are given.
bool is_given_tree(const std::string& name, const NodesOptions& nodes = {});

// The tree for so many ranks; trees for different nodes begin at rank 0, the mesh's at its last rank, that of a file
// where the file says. kInvalid with a sentence if there is none. Precondition: is_given_tree(name, nodes).
Result<GivenTree> given_tree_of(const std::string& name, const NodesOptions& nodes, Rank ranks);

}  // namespace fibocast
