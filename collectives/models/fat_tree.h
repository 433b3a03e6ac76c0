// Binary fat trees in numbers: capacities, lower bounds and the times of a total exchange (Dimakopoulos and
// Dimopoulos). Steps are counted 1, 2, ..; a packet crosses one link per step. For tools, not the core.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/fat_tree_shape.h"
#include "collectives/types.h"

namespace fibocast {

// More leaves than this are refused: n^2 must fit in 64 bit.
inline constexpr std::uint64_t kMostModelLeaves = kMostLeaves;

// A tree with n = 2^L leaves and capacity[h - 1] links per direction in every branch between levels h - 1 and h (E1).
struct FatTree {
  std::uint64_t leaves = 1;
  std::vector<std::uint64_t> capacity;  // L of them
  unsigned levels() const { return static_cast<unsigned>(capacity.size()); }
};

// `capacities`: "constant" (all 1), "exponential" (1, 2, 4, ..) or a list "1,1,2". Nothing if the leaves are no power
// of two, the list has not one entry per level, does not begin with 1 or decreases; `error` is then a sentence.
std::optional<FatTree> make_fat_tree(std::uint64_t leaves, std::string_view capacities, std::string& error);

// All c_(h+1) in {c_h, 2 c_h}: what the phased schedule needs (E12, E14).
bool has_exchange_schedule(const FatTree& tree);

// E4, Table 1: steps that no algorithm can do without.
struct FatTreeBounds {
  std::uint64_t broadcast = 0;
  std::uint64_t scatter = 0;  // and gather
  std::uint64_t multinode_broadcast = 0;
  std::uint64_t total_exchange = 0;
};
FatTreeBounds fat_tree_bounds(const FatTree& tree);

// What a branch can be fed from below: e_1 = 1, e_(h+1) = min(c_(h+1), 2 e_h) (E14).
std::vector<std::uint64_t> effective_capacities(const FatTree& tree);

// The phase in which every level-h node swaps the messages between its halves (E11, E13).
struct ExchangePhase {
  unsigned level = 0;
  std::uint64_t dispatches = 0;  // steps in which packets start: ceil(4^(h-1) / e_h)
  std::uint64_t steps = 0;       // until the last one has arrived
  std::uint64_t first = 1;       // step of the first dispatch when phases overlap
};
// From level L down.
std::vector<ExchangePhase> exchange_phases(const FatTree& tree);
std::uint64_t serial_exchange(const FatTree& tree);     // E13 (1): each phase waits for the one before
std::uint64_t pipelined_exchange(const FatTree& tree);  // E13 (2): phases overlap by 2h - 3 steps

// What a total exchange on the tree of exponential capacities takes at least (E15). Precondition: leaves >= 2.
struct ExchangeLowerBounds {
  double lemma3 = 0;  // as printed: n + 2 log n - 2 log log n - 2; true, but its proof is not
  std::uint64_t holes =
      0;  // least T with (T - n + 1) T 2^i >= n 2 (L - i + 1) (2^i - 1): the paper's (4), not rigorous
  std::uint64_t sound = 0;  // rigorous
};
ExchangeLowerBounds exchange_lower_bounds(std::uint64_t leaves);

}  // namespace fibocast
