// How large a whole node must be for one operation in virtual time: as small as its schedules allow, for there may be
// thousands of nodes.
#pragma once

#include <optional>
#include <string>

#include "collectives/plan.h"
#include "collectives/shape.h"
#include "collectives/types.h"

namespace fibocast {

// Channels, stages and transfers are what the busiest rank needs for `shape` (with its choice) from `root`, and for the
// barrier's tree, along which nodes tell how far they are. Nothing, and a sentence in `error`, if some rank has no
// schedule, if a rank brings more bytes than a node takes, or if all nodes together would need more than 8 GiB.
std::optional<Limits> full_node_limits(const Plan& plan, const OperationShape& shape, Rank root, std::string& error);

// The same with a channel from each node to each other one, which failing verdicts need.
std::optional<Limits> connected_node_limits(const Plan& plan, const OperationShape& shape, Rank root,
                                            std::string& error);

}  // namespace fibocast
