// The trees of Banikazemi et al. 1999 for a network of workstations, and every other tree by name on the same machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "collectives/tree_heterogeneous.h"

namespace fibocast {

// By rank: slow is who needs more than the middle between the fastest and the slowest node for a send and a receive
// together. Nodes of one kind are all fast.
std::vector<bool> slow_nodes(const HeterogeneousCosts& costs);

// The root sends to all slow nodes, then to the fast ones, each in ascending order (C14: a reconstruction of the
// paper's Fig. 6). Precondition: root is a rank.
Tree tree_slow_first(const HeterogeneousCosts& costs, Rank root);

// The root sends to the other fast nodes in ascending order; then the j-th slow node, j = 0, 1, .., gets the message
// from fast node j modulo their number, counted from the root (C14). Precondition: root is a rank.
Tree tree_hierarchical(const HeterogeneousCosts& costs, Rank root);

// The names of the trees below, for a sentence. Whether it is one of them, or one that is refused with its own
// sentence.
std::string workstation_tree_names();
bool is_workstation_tree(std::string_view name);
// A tree by name: heterogeneous, heterogeneous:best, heterogeneous:plain (leaves not exchanged), slow-first,
// hierarchical, optimum; binomial is MPICH's (C8); else a tree of collectives/tree_catalog.h that needs no costs.
// Nothing, and a sentence in `error`, for any other. Precondition: root is a rank.
std::optional<Tree> choose_workstation_tree(std::string_view name, const HeterogeneousCosts& costs, Rank root,
                                            std::string& error);

}  // namespace fibocast
