// The costs of nodes that share the processors of a host, where what single messages cost is lost in the noise of
// waking up: those with which predict_on_hosts() explains whole operations best, some with few messages and many
// wakings, some the other way round, some deep, some flat, some of a few nodes only.
#pragma once

#include <span>
#include <vector>

#include "collectives/schedule.h"
#include "runtime/cli/calibration/estimate.h"

namespace fibocast {

struct HostExperiment {
  Schedule schedule;
  Sample taken;  // ns from the call to the last activation
};

// In ns.
struct HostFit {
  Estimate send, latency, occupancy, wake;
  Estimate per_byte;  // of the sender and of the receiver together
  std::uint32_t processors = 1;
  double error = 0;  // how far off the experiments are: the mean of |log(predicted / measured)|
};

// Precondition: at least one experiment, none without values; colocated >= 1.
HostFit fit_host(std::span<const HostExperiment> experiments, Rank colocated);

}  // namespace fibocast
