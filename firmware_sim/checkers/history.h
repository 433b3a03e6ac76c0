// What the applications of a cluster saw and did, in order: the only thing that the checkers look at, so that a test
// can hand them a history with a planted defect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collectives/types.h"
#include "firmware_sim/fault.h"

namespace fibocast {

// Identifies bytes: two payloads that differ have different prints, up to hash collisions.
struct Fingerprint {
  std::uint64_t size = 0;
  std::uint64_t hash = 0;
  bool operator==(const Fingerprint&) const = default;
};
Fingerprint fingerprint(std::span<const std::byte> bytes);

// A node that had crashed runs again.
struct Restart {
  Nanoseconds at = 0;
  NodeId node = 0;
};

// Somebody was told that a group is removed.
struct Removal {
  Nanoseconds at = 0;
  NodeId node = 0;
};

// Somebody began to make a group.
struct HistoryAttempt {
  CreationId creation = kUnknownCreation;
  bool removed = false;  // what was left of it
};

struct HistoryGroup {
  std::string name;
  std::vector<NodeId> members;  // by rank
  std::uint32_t participants = 1;
  bool goes_on = false;     // without members that are lost
  bool replanned = false;   // calls may wait for a new plan, and end uncounted
  bool numbered = true;     // calls are; else which generation they joined is known once they are answered
  bool must_exist = false;  // all members are there and nothing goes wrong when it is made
  CreationId creation = kUnknownCreation;  // once it was made; until then: it is not told
  Nanoseconds removed = kNever;            // when somebody was told that it is removed
  std::vector<Removal> removals = {};
  std::vector<HistoryAttempt> attempts = {};
};

// Of a call that joined what was open and was never answered.
inline constexpr Generation kUnknownGeneration = ~Generation{0};

struct Record {
  enum class Kind : std::uint8_t {
    kArrived,   // a participant's call was taken
    kDone,      // ... and answered
    kSent,      // an application message was taken
    kReceived,  // ... and delivered
    kCrashed,   // the node is gone, and what was called there with it
    kDied,      // a participant died in its call; its node lives
    kGaveUp,    // ... does not want the answer of its call any more
    kEnded,     // ... ended between two calls; another one comes in its place
  };
  Kind kind = Kind::kArrived;
  Nanoseconds at = 0;
  NodeId node = 0;  // where it happened

  // kArrived, kDone, kDied, kGaveUp, kEnded
  std::uint32_t group = 0;        // index in History::groups
  std::uint32_t participant = 0;  // of the group at this node
  Generation generation = 0;
  Operation operation = Operation::kBarrier;
  Rank root = 0;
  Nanoseconds deadline = kNever;
  Nanoseconds not_before = 0;  // kArrived: it counts only from then on
  Verdict verdict = Verdict::kPending;
  std::vector<Rank> missing;  // named by the verdict
  Rank straggler = kNoRank;   // of a barrier, where it is known
  std::string label;          // kDied: of its call; kDone with CALLER_LOST: as it was told

  // kSent: to `peer`; kReceived: from `peer`
  NodeId peer = 0;
  std::uint64_t tag = 0;

  // Of operations that move data: what the participant must get; what it got (multicasts: below).
  Fingerprint expected, result;
  Fingerprint payload;  // multicast: of the sender at kArrived, of the others at kDone; messages: always
};

// How a node looked when everything was over and everything released.
struct NodeEnd {
  std::uint64_t payload_bytes = 0;       // Node::payload_bytes_used()
  std::uint64_t buffers = 0;             // that the host still keeps
  std::uint64_t repeated_answers = 0;    // answers with a cookie that had one already
  std::uint64_t idle_wakes = 0;          // on_timer() calls during the last, quiet second
  bool stuck = false;                    // woke itself for ever at one instant
  std::uint64_t most_payload_bytes = 0;  // at any time
  std::uint64_t most_buffers = 0;
  std::uint64_t most_large_bytes = 0;   // of large buffers, which all count for the budget
  std::uint32_t requests = 0;           // that nobody waits for any more, and are still in the node's table
  std::vector<CreationId> groups = {};  // that were created, and are known here
  bool up = false;                      // it runs
};

// A participant found its group gone, or another one in its place.
struct Vanishing {
  Nanoseconds at = 0;
  NodeId node = 0;
  std::uint32_t group = 0;
};

// A created group that a node knew when everything had been quiet for a while, long enough to hear of removals.
struct Leftover {
  Nanoseconds at = 0;
  NodeId node = 0;
  CreationId creation = kUnknownCreation;
};

struct History {
  std::vector<HistoryGroup> groups;
  std::vector<Record> records;                                                               // as they happened
  std::vector<NodeEnd> ends;                                                                 // by NodeId
  std::vector<Fault> faults;                                                                 // that there were
  std::uint64_t payload_bytes_limit = ~std::uint64_t{0}, buffers_limit = ~std::uint64_t{0};  // of each node
  std::uint64_t large_bytes_limit = ~std::uint64_t{0};
  std::vector<Restart> restarts;
  std::vector<Vanishing> vanishings;
  std::vector<Leftover> leftovers;
  // The latest end of a call after its deadline.
  Nanoseconds grace = 0;
  // A peer silent for so long is lost.
  Nanoseconds suspicion = 2'000'000'000;
  // Nodes talk over connections, and a frame takes so long from one to the other where nothing is wrong.
  bool over_streams = false;
  Nanoseconds way = 0;
  // So long the place of an application that died is kept.
  Nanoseconds client_grace = 1'000'000'000;
  // Generations of a group that may be open at once, W of the protocol.
  Generation window = 8;
  // Nothing was lost and all nodes were up from the beginning: who arrived in time must not be called missing.
  bool calm = false;
  // A node crashed, and its applications with it: payloads wait for them, or for it.
  bool somebody_crashed = false;
  // An application died, or ended, and never came back: its node keeps what is meant for it, and the others wait for
  // it.
  bool somebody_stayed_away = false;
  // With so much time between the last arrival and the earliest deadline an operation has to succeed.
  Nanoseconds ample = 60'000'000'000;
};

}  // namespace fibocast
