// What a node asks all members of a group, and what it knows of each of them. Core.
#pragma once

#include <cstdint>

#include "collectives/plan.h"
#include "collectives/types.h"
#include "runtime/node/rank_set.h"
#include "runtime/node/requests.h"

namespace fibocast {

// One question to all members of a group at a time: what about a generation, or do you take this definition.
struct Inquiry {
  enum class Phase : std::uint8_t {
    kIdle,
    kFreezing,
    kTelling,
    kDefining,
    kRemoving,
    kCounting,
    kHolding,   // for a new plan (replan.h)
    kStopping,  // these three: a change of the epoch (epochs.h)
    kInstalling,
    kGoing,
  };
  Phase phase = Phase::kIdle;
  Verdict reason = Verdict::kPending;
  Verdict verdict = Verdict::kPending;
  bool any_completed = false;
  // The operation asked about: its slot may serve a later generation while members are still being told. A change of
  // the epoch: the first generation that is spoken of.
  Operation operation = Operation::kBarrier;
  ElementType type = ElementType::kBytes;
  CombineOperator op = CombineOperator::kNone;
  bool charged = true;
  Generation generation = 0;
  Rank root = 0;
  std::uint64_t total_bytes = 0;
  std::uint32_t segment_bytes = 0;
  AlgorithmChoice choice;
  Rank lost = kNoRank;  // kPeerLost: because of this one
  Generation window_base = 0;
  Generation furthest = 0;         // a change of the epoch: the highest base of a member
  Generation let_go = 0;           // ... and the highest EpochChange::let_go
  Nanoseconds ended_at = kNever;   // what is asked about had ended well then, at some member (former_life.h)
  Nanoseconds due = kNever;        // then those that have not answered are taken as gone
  Nanoseconds ask_again = kNever;  // a member whose channel was full could not answer: it is asked once more
  std::uint32_t answers = 0;
  std::uint32_t request = kNoRequest;  // kDefining: who wants to know
  CreationId held = kUnknownCreation;  // kDefining: of the same group that members have already
  RankSet ranks;
};

// Per member of an inquiry.
struct InquiryMember {
  bool asked : 1 = false;
  bool answered : 1 = false;
  bool arrived : 1 = false;
  // Between inquiries, for the group's next epoch:
  bool left : 1 = false;       // was lost since the last one, if only for a while
  bool dead : 1 = false;       // ... its process: it does not vote
  bool restarted : 1 = false;  // ... it knows nothing of this epoch
  bool wants_in : 1 = false;
  bool watched : 1 = false;  // by the failure detector: its answer is waited for
  bool missed : 1 = false;   // somebody could not reach it: named where an operation ends for it
  bool other : 1 = false;    // kDefining: it has the same group of another creation
  bool lacks : 1 = false;    // it does not know the group
  bool took : 1 = false;     // ... it does: it has answered so (half_made.h)
  std::uint8_t told = 0;     // kDefining: messages of the definition that are in its channel
  void begin() { asked = answered = arrived = other = false, told = 0; }
};

}  // namespace fibocast
