// An incident of real daemons, as their flight recorders tell it (`fibocast trace`), run again in virtual time: whole
// nodes on the machine that the daemons emulated, or else on their [model], called at the recorded instants. Nothing
// else of the recorded run goes in; what each rank's activation was is what comes out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/plan.h"
#include "transport/emulated_nic.h"

namespace fibocast {

struct IncidentGroup {
  std::string name;
  std::vector<NodeId> members;  // by rank
  Plan plan;                    // its trees; operations name their algorithms
};

// Times are by rank, on the recording's clock.
struct IncidentOperation {
  std::size_t group = 0;  // in Incident::groups
  Generation generation = 0;
  OperationShape shape;  // with the algorithm that was used
  Rank root = 0;
  std::vector<Nanoseconds> called;  // 0: whenever, after all others
  std::vector<Nanoseconds> activated;
};

struct Incident {
  NicSettings machine;
  std::vector<IncidentGroup> groups;
  std::vector<IncidentOperation> operations;  // those of a group in the order of their generations
};

inline constexpr std::uint32_t kMostIncidentNodes = 256;

// For each operation when each rank is activated now, on the recording's clock. Nothing, and a sentence in `error`, if
// some operation cannot be run or does not end.
std::optional<std::vector<std::vector<Nanoseconds>>> replay(const Incident& incident, std::string& error);

// Pairs of ranks that were activated in one order and now are in the other; of those the largest difference now. Ranks
// that are activated at the same time have no order.
struct Inversions {
  std::uint64_t pairs = 0;
  Nanoseconds largest = 0;
};
Inversions count_inversions(const std::vector<Nanoseconds>& recorded, const std::vector<Nanoseconds>& now);

}  // namespace fibocast
