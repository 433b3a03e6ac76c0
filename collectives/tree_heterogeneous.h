// Trees for machines whose nodes differ in speed (Banikazemi et al. 1999), and what any tree costs there: each node has
// its own send and receive cost, the wire is the same for all. For tools, not the core.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/tree.h"

namespace fibocast {

// Of one message of a given size, in ticks of any unit.
struct NodeCost {
  std::uint64_t send = 1;
  std::uint64_t receive = 0;
  bool operator==(const NodeCost&) const = default;
};

// Nodes of one kind are the machine of Cordsen et al. 1997: s = send, r = link + receive (C19).
struct HeterogeneousCosts {
  std::vector<NodeCost> nodes;  // by rank
  std::uint64_t link = 0;       // ticks on the wire
};

// Throws std::overflow_error if some time on some tree of these nodes could pass 2^62 ticks. All functions below have
// that as their precondition.
void check_times_fit(const HeterogeneousCosts& costs);

// The time at which each rank has the message (C7, equations 6 and 7): the k-th child of v, k = 1, 2, .., at
// time(v) + k send(v) + link + receive(child). Precondition: tree.size() == costs.nodes.size().
std::vector<std::uint64_t> activation_times(const Tree& tree, const HeterogeneousCosts& costs);
// The largest of them.
std::uint64_t completion(const Tree& tree, const HeterogeneousCosts& costs);
// When the root has the contribution of all (A30 with each node's own costs): first come first served, ties by rank.
std::uint64_t reduction_completion(const Tree& tree, const HeterogeneousCosts& costs);

// Who is served first: those who receive fast, who send fast, or both together. Ties: the other cost, then the rank.
enum class ServeOrder : std::uint8_t { kReceive, kSend, kSum };

// Fastest node first (C18): in the serve order, each node gets the message from the informed node whose next send ends
// first (ties: the lower rank). O(n log n). Precondition: root < costs.nodes.size().
Tree tree_fastest_first(const HeterogeneousCosts& costs, Rank root, ServeOrder order = ServeOrder::kReceive);
// The same tree with its leaves exchanged: the place that a message reaches first goes to the leaf that receives
// slowest (C18). Never slower.
Tree with_leaves_reassigned(const Tree& tree, const HeterogeneousCosts& costs);
// Both steps.
Tree tree_heterogeneous(const HeterogeneousCosts& costs, Rank root, ServeOrder order = ServeOrder::kReceive);
// The fastest of the three serve orders; the first of them if they tie. In random tests it was the optimum in 86 % of
// the machines (C18).
Tree best_tree_heterogeneous(const HeterogeneousCosts& costs, Rank root);

}  // namespace fibocast
