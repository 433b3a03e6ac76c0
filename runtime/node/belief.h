// What nodes believe and tell each other about a node: the words of the failure detector and of the messages between
// nodes. Core.
#pragma once

#include <cstdint>

#include "collectives/types.h"

namespace fibocast {

// Values go over the wire: append only. Of the same life the larger one wins (supersedes() below).
enum class Belief : std::uint8_t {
  kUnknown = 0,  // never heard: nobody accuses it; never told
  kAlive = 1,
  kSuspect = 2,  // silent for half the suspicion time: still watched and told, so that it can defend itself
  kLost = 3,     // a belief, not a fence: a node that is heard again is alive again
};

// One fact about a node. A fact about another incarnation than the one that the receiver knows decides nothing.
struct News {
  NodeId subject = kNoNode;
  std::uint64_t incarnation = 0;  // of the subject: random, not ordered
  std::uint32_t life = 0;         // raised by the subject alone, when it refutes
  Belief belief = Belief::kAlive;
  bool operator==(const News&) const = default;
};

// `a` is later than `b` about the same incarnation: of a higher life, or a graver belief about the same one.
constexpr bool supersedes(const News& a, const News& b) {
  return a.life != b.life ? a.life > b.life : a.belief > b.belief;
}

enum class BeliefReason : std::uint8_t {
  kHeard,      // a frame or a handshake of its own
  kSilent,     // probes unanswered for the (half of the) detector's suspicion time
  kRefused,    // its address refused, and no probe after that was answered
  kTold,       // news of another node
  kRestarted,  // it came as a new incarnation: what was under way to the former one is lost
  kLeft,       // it said so: it ends
};

// For the host: what is believed about `peer` has changed.
struct BeliefChange {
  NodeId peer = kNoNode;
  Belief belief = Belief::kUnknown;
  BeliefReason reason = BeliefReason::kHeard;
  NodeId told_by = kNoNode;  // kTold
  bool operator==(const BeliefChange&) const = default;
};

}  // namespace fibocast
