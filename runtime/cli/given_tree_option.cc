#include "runtime/cli/given_tree_option.h"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <utility>

#include "collectives/given_tree.h"
#include "collectives/models/workstation_trees.h"
#include "collectives/tree_mesh.h"

namespace fibocast {
namespace {

constexpr std::array<std::string_view, 6> kForDifferentNodes = {
    "heterogeneous", "heterogeneous:best", "heterogeneous:plain", "slow-first", "hierarchical", "optimum"};

bool needs_nodes(const std::string& name) {
  return std::find(kForDifferentNodes.begin(), kForDifferentNodes.end(), name) != kForDifferentNodes.end();
}

std::optional<Tree> mesh_of(Rank ranks, std::string& error) {
  if (std::has_single_bit(ranks)) return tree_mesh(static_cast<unsigned>(std::countr_zero(ranks)));
  error = "the tree \"mesh\" is for 2^N ranks, not " + std::to_string(ranks);
  return {};
}

std::optional<Tree> tree_on_nodes(const std::string& name, const NodesOptions& nodes, Rank ranks, std::string& error) {
  const auto cluster = read_nodes(nodes, error);
  if (!cluster) return {};
  if (cluster->nodes.size() == ranks)
    return read_or_choose_tree(name, workstations_in_ticks(*cluster, nodes.bytes).costs, {}, error);
  error = "the costs are those of " + std::to_string(cluster->nodes.size()) + " nodes, and the group has " +
          std::to_string(ranks) + " ranks";
  return {};
}

std::optional<Tree> tree_named(const std::string& name, const NodesOptions& nodes, Rank ranks, std::string& error) {
  try {
    if (!nodes.empty()) return tree_on_nodes(name, nodes, ranks, error);
    if (is_tree_file(name)) return read_tree_file(name, error);
    if (name == "mesh") return mesh_of(ranks, error);
    error = "the tree \"" + name + "\" needs --nodes with each node's costs";
  } catch (const std::overflow_error&) {
    error = "the costs of the nodes are too large";
  }
  return {};
}

GivenTree lists_of(const Tree& tree) { return {{tree.parents().begin(), tree.parents().end()}, tree.from_root_down()}; }

}  // namespace

bool is_given_tree(const std::string& name, const NodesOptions& nodes) {
  return !nodes.empty() || is_tree_file(name) || name == "mesh" || needs_nodes(name);
}

Result<GivenTree> given_tree_of(const std::string& name, const NodesOptions& nodes, Rank ranks) {
  std::string error;
  const auto tree = tree_named(name, nodes, ranks, error);
  if (!tree) return Status{Code::kInvalid, error, {}};
  if (tree->size() == ranks && ranks <= kMostTableRanks) return lists_of(*tree);
  const std::string size = std::to_string(tree->size());
  return Status{
      Code::kInvalid, "the tree \"" + name + "\" has " + size + " ranks and the group " + std::to_string(ranks), {}};
}

}  // namespace fibocast
