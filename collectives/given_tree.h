// Whole trees as tables that a node can run, and back. For tools, not the core.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/plan.h"
#include "collectives/tree.h"
#include "collectives/tree_table.h"

namespace fibocast {

// A tree in two lists: the parent of each rank (kNoRank for the root), and all ranks in the order in which parents send
// to their children (none: ascending; the root may be missing). Nothing if that is no tree of `ranks` ranks; `error` is
// then a sentence.
std::optional<Tree> tree_of_lists(std::span<const Rank> parents, std::span<const Rank> order, Rank ranks,
                                  std::string& error);

// The tree of these lists becomes that of the plan, in `table`, which the plan views; the phases' kinds are left alone.
// Returns nothing, or what is wrong.
std::string give_tree(std::span<const Rank> parents, std::span<const Rank> order, Rank ranks,
                      std::vector<TreeTableEntry>& table, Plan& plan);

// The table, rotated so that the root is rank 0. Precondition: tree.is_valid(), 1 to kMostTableRanks ranks.
std::vector<TreeTableEntry> table_of(const Tree& tree);
// Precondition: is_valid(table).
Tree tree_of(const TreeTable& table);

}  // namespace fibocast
