// What is done on purpose to the daemons of a swarm's run: they leave and are started again, and the cluster grows.
#pragma once

#include <cstdint>

#include "firmware_sim/random.h"
#include "firmware_sim/swarm_run.h"

namespace fibocast {

class SwarmDaemons {
 public:
  // Begins all that the scenario says. `run` must outlive it.
  explicit SwarmDaemons(SwarmRun& run);

 private:
  void leave(const ScenarioLeave& leave);
  void finish(const ScenarioLeave& leave, Nanoseconds until);
  void come_back(const ScenarioLeave& leave);
  void read_file(NodeId node);
  void note_strangers();

  SwarmRun& run_;
  Random random_;  // of incarnations
};

// How nodes differ before the cluster has grown; nothing: it does not.
std::function<void(NodeSettings&)> before_growth(const Scenario& scenario);

}  // namespace fibocast
