// What the ranks of a swarm's group bring to an operation and what each must get: the sequential reference, computed
// from the same numbers without any message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/data_layout.h"
#include "firmware_sim/swarm_scenario.h"

namespace fibocast {

OperationShape shape_of(const ScenarioGroup& group, const ScenarioOperation& operation);
// `key` is different for each operation of a run. Nothing: the rank brings nothing; gets nothing.
std::vector<std::byte> brought(const ScenarioGroup& group, const ScenarioOperation& operation, std::uint64_t key,
                               Rank rank);
std::vector<std::byte> expected(const ScenarioGroup& group, const ScenarioOperation& operation, std::uint64_t key,
                                Rank rank);
// What the rank that needs most for this operation needs at once; nothing if the plan's trees do not serve for it.
std::optional<std::uint64_t> most_bytes(const ScenarioGroup& group, const Plan& plan,
                                        const ScenarioOperation& operation);

}  // namespace fibocast
