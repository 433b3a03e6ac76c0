// What a node keeps of changes of its groups: of their epochs (epochs.h) and their plans (replan.h). Core.
#pragma once

#include <cstdint>

#include "collectives/plan.h"
#include "collectives/types.h"
#include "runtime/node/peer_map.h"
#include "runtime/node/requests.h"

namespace fibocast {

// How far a change of the group's epoch is (epochs.h).
struct EpochChange {
  enum class Step : std::uint8_t {
    kRunning,
    kStopped,    // promised: nothing of the epoch is taken in any more
    kInstalled,  // the new one is, nothing is sent yet
  };
  Step step = Step::kRunning;
  bool settled = true;       // the epoch has gone
  bool wanted = false;       // a member is lost, or somebody wants to join
  bool outside = false;      // the group goes on without us
  bool watching = false;     // some member is InquiryMember::watched
  bool cut_off = false;      // no majority: calls are refused
  bool answer_owed = false;  // to the leader, whose channel had no room
  Epoch promised = 0;        // we take part in no lower number
  Rank leader = kNoRank;     // who has stopped us; outside: whom to ask
  // Up to there callers were told that a member is lost, and there was no room to keep that. With the next change all
  // members begin there.
  Generation let_go = 0;
  Nanoseconds since = 0;     // when it began
  Nanoseconds due = kNever;  // to ask, or to propose again
};

// How a creation ended. Those that never came to be are remembered apart: who tries to make a group again and again
// pushes out none that was removed.
enum class GroupEnd : std::uint8_t { kRemoved, kNeverMade };
inline constexpr std::size_t kGroupEnds = 2;
// What a peer is still to hear of.
struct RemovalsToTell {
  std::uint8_t left = 0;   // so many,
  std::uint8_t since = 0;  // ... before these last ones
};

// What is still to be said to who brings a new plan (replan.h).
struct PlanRefusal {
  Epoch number = 0;  // 0: none is owed
  Rank to = kNoRank;
  Verdict verdict = Verdict::kRefused;
};
// Calls are held for a new plan.
struct PlanHold {
  Epoch number = 0;  // 0: they are not
  Rank leader = kNoRank;
  Generation limit = 0;   // the first generation that may not be called
  bool draining = false;  // ... and it is the same for all members
  bool answer_owed = false;
};

// The new plan that this node is bringing to a group.
struct Replanning {
  enum class Phase : std::uint8_t { kIdle, kWaiting, kHolding, kDraining, kReleasing, kSwitching };
  Phase phase = Phase::kIdle;
  std::uint32_t group = kNoIndex;
  std::uint32_t request = kNoRequest;
  Plan plan;
  Epoch number = 0;
  Generation limit = 0;
  Rank impossible = kNoRank;  // a member whose limits the plan does not fit
  std::uint32_t attempts = 0;
  Nanoseconds again = kNever;
  Nanoseconds until = kNever;  // then it is given up
};

}  // namespace fibocast
