// Moves packets through a binary fat tree hop by hop and notices when two need the same link: the judge of every
// schedule, and independent of the formulas that made it. For tools and tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/models/fat_tree.h"

namespace fibocast {

// A packet that a leaf sends into its branch in `step`.
struct FatTreeDispatch {
  std::uint64_t step = 1;  // 1, 2, ..
  Rank source = 0;
  Rank destination = 0;
  auto operator<=>(const FatTreeDispatch&) const = default;
};

// More packets than links on a branch, in one direction and one step.
struct LinkConflict {
  std::uint64_t step = 0;
  Rank from = 0;
  Rank to = 0;
  std::uint64_t packets = 0;
};

struct FatTreeTraffic {
  std::vector<std::uint64_t> received;   // for each dispatch: the step at whose end it is at its destination
  std::uint64_t completion = 0;          // the largest of them
  std::optional<LinkConflict> conflict;  // the first one, in order of steps
};

// Preconditions: ranks below tree.leaves, source != destination, step >= 1.
FatTreeTraffic simulate(const FatTree& tree, const std::vector<FatTreeDispatch>& dispatches);

// Nothing if the dispatches are a total exchange among all leaves, each ordered pair exactly once, and no link is
// needed twice; else what is wrong, as a sentence.
std::optional<std::string> exchange_mistake(const FatTree& tree, const std::vector<FatTreeDispatch>& dispatches);

}  // namespace fibocast
