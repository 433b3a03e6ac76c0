#include "collectives/given_tree.h"

#include <algorithm>

#include "collectives/check.h"

namespace fibocast {
namespace {

std::string mistake_in_parents(std::span<const Rank> parents, Rank ranks) {
  if (ranks > kMostTableRanks) return "a given tree has at most " + std::to_string(kMostTableRanks) + " ranks";
  if (parents.size() != ranks)
    return "the tree has " + std::to_string(parents.size()) + " ranks and the group " + std::to_string(ranks);
  for (const Rank parent : parents)
    if (parent != kNoRank && parent >= ranks) return "the parent " + std::to_string(parent) + " is no rank";
  const auto roots = std::ranges::count(parents, kNoRank);
  return roots == 1 ? "" : "the tree has " + std::to_string(roots) + " roots instead of one";
}

std::string mistake_in_order(std::span<const Rank> order, std::span<const Rank> parents) {
  std::vector<bool> seen(parents.size(), false);
  for (const Rank v : order) {
    if (v >= seen.size()) return "the send order names " + std::to_string(v) + ", which is no rank";
    if (seen[v]) return "the send order names rank " + std::to_string(v) + " twice";
    seen[v] = true;
  }
  for (Rank v = 0; v < seen.size(); ++v)
    if (!seen[v] && parents[v] != kNoRank) return "the send order does not name rank " + std::to_string(v);
  return "";
}

}  // namespace

std::optional<Tree> tree_of_lists(std::span<const Rank> parents, std::span<const Rank> order, Rank ranks,
                                  std::string& error) {
  error = mistake_in_parents(parents, ranks);
  if (error.empty() && !order.empty()) error = mistake_in_order(order, parents);
  if (!error.empty()) return {};
  const std::vector<Rank> list(parents.begin(), parents.end());
  const Tree tree = order.empty() ? Tree::from_parents(list, SendOrder::kAscending) : Tree::from_parents(list, order);
  if (tree.is_valid()) return tree;
  error = "some ranks of the tree are not below the root: their parents go round in a circle";
  return {};
}

std::string give_tree(std::span<const Rank> parents, std::span<const Rank> order, Rank ranks,
                      std::vector<TreeTableEntry>& table, Plan& plan) {
  std::string error;
  const auto tree = tree_of_lists(parents, order, ranks, error);
  if (!tree) return error;
  table = table_of(*tree);
  plan.given = TreeTable(table);
  return "";
}

std::vector<TreeTableEntry> table_of(const Tree& tree) {
  check(tree.size() >= 1 && tree.size() <= kMostTableRanks);
  const Tree turned = tree.rotated(tree.size() - tree.root());
  std::vector<TreeTableEntry> entries;
  std::size_t first_child = 1;
  for (const Rank v : turned.from_root_down()) {
    entries.push_back({static_cast<std::uint16_t>(v), static_cast<std::uint16_t>(first_child), 0});
    first_child += turned.children(v).size();
  }
  check(complete_table(entries));
  return entries;
}

Tree tree_of(const TreeTable& table) {
  std::vector<Rank> parents(table.ranks()), order;
  for (Rank v = 0; v < table.ranks(); ++v) parents[v] = table.parent(v);
  for (const TreeTableEntry& e : table.entries()) order.push_back(e.rank);
  return Tree::from_parents(std::move(parents), order);
}

}  // namespace fibocast
