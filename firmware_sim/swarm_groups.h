// The created groups of a swarm's run: who makes each, and who removes it; and their participants, as those of groups
// that exist by their names.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "firmware_sim/swarm_participant.h"
#include "firmware_sim/swarm_run.h"

namespace fibocast {

class SwarmGroups {
 public:
  // Begins all groups of the scenario. `run` must outlive it.
  explicit SwarmGroups(SwarmRun& run);
  // Their participants at the node die with it, and begin anew with it.
  void on_crash(NodeId node, bool back);

 private:
  // A member tries until all members take the group.
  struct Creation {
    std::uint32_t group;
    NodeId creator;
    Nanoseconds begun = 0;
    int attempt = 0;        // the one under way; answers to earlier ones mean nothing
    bool is_rival = false;  // tries once
    int in_the_way = 0;     // so often in a row there was one of that name
  };

  void add(std::uint32_t group);
  void begin(std::uint32_t group, bool exists);
  void make(std::uint32_t group);
  void create(const std::shared_ptr<Creation>& creation);
  void note_attempt(const Creation& creation);
  void on_created(const std::shared_ptr<Creation>& creation);
  void fail(std::uint32_t group);
  void remove(const ScenarioRemoval& removal, int attempts);
  void note_removal(HistoryGroup& group, NodeId by);
  void end_all_but(std::uint32_t group);
  void clear_way(NodeId node, std::uint32_t group);
  void go_on_after(std::uint32_t group, bool removed);
  const ScenarioGroup& group(std::uint32_t group) const { return run_.scenario().groups[group]; }

  SwarmRun& run_;
  std::vector<std::vector<std::unique_ptr<SwarmParticipant>>> participants_;  // by group
  std::vector<bool> over_;                                                    // it was made, or will never be
  std::vector<bool> going_on_;  // the one before it was removed, or will never be
};

}  // namespace fibocast
