// The total exchange on a fat tree of any allowed capacities as a whole schedule, and the shorter ones that refute the
// paper's conjecture (Dimakopoulos and Dimopoulos, E11, E12, E16). A node uses exchange_steps.h. For tools.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/exchange_steps.h"
#include "collectives/models/fat_tree_simulator.h"

namespace fibocast {

// E12: bit j of a leaf's number is parallel if c_(j+2) = 2 c_(j+1), else serial; leaves with equal serial bits send
// together. Sorted by step, source, destination. `pipelined`: phases overlap as E13 (2) allows. Nothing for ratios
// other than 1 and 2, for which the paper has no schedule; `error` is then a sentence.
std::optional<std::vector<FatTreeDispatch>> exchange_schedule(const FatTree& tree, bool pipelined, std::string& error);

// The dispatches of all leaves by exchange_steps.h, sorted. Precondition: is_exchange_size(n).
std::vector<FatTreeDispatch> exchange_schedule_of_kind(ExchangeKind kind, Rank n);

// E16: in step s all leaves k send to k XOR x, x the next unused offset of class classes[s - 1] (0: nobody sends).
// Nothing if some class is not used up exactly.
std::optional<std::vector<FatTreeDispatch>> xor_schedule(Rank leaves, std::span<const unsigned> classes);

// The fewest steps of any such schedule without a conflict on the tree of exponential capacities, by exhaustive search:
// the arrivals s + 2c - 1 must be distinct. Practical for up to 32 leaves. Precondition: leaves >= 2.
std::uint64_t best_xor_steps(Rank leaves);

}  // namespace fibocast
