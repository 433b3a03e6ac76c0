// How long a schedule takes where several nodes share the processors of a host: then neither the ports nor the depth
// decide, but what the processors have to do, and how often a node must be woken. For tools, not the core.
#pragma once

#include <cstdint>
#include <optional>

#include "collectives/cost_model.h"
#include "collectives/schedule.h"

namespace fibocast {

// Ticks from the call, which all ranks make at 0 - a multicast's others have made it before -, to the last rank's
// activation. Rules: a node that gets a message, or is called, joins the queue of its host, and the next free processor
// is `wake` busy until it runs. It then takes in all that has come, occupancy each, sends what that allows, and goes on
// until nothing is left; then its processor serves the next of the queue. A node that has ended wakes its application,
// for `wake` as well. Where a host fans out, short messages of one stage to its own nodes cost their sender less, from
// the second on. `not_before` does not count, as on real networks. Nothing if the schedule never ends.
// Precondition: hosts.nodes and hosts.processors >= 1.
std::optional<std::uint64_t> predict_on_hosts(const Schedule& schedule, const CostModel& model,
                                              const HostSharing& hosts);

}  // namespace fibocast
