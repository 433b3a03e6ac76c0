// The last events of a node, for whoever asks afterwards what happened: a ring of fixed size that is always on. Each
// group describes itself when it is made and every kSnapshotEvery generations, so that the events that are left can be
// read although what came before them is overwritten. Core: no heap, no exceptions.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/shape.h"
#include "collectives/types.h"

namespace fibocast {

// 32 bytes; the same in memory and in a trace (little-endian). What `peer` and `value` mean depends on the kind.
struct FlightEvent {
  // Values go into traces: append only.
  enum class Kind : std::uint8_t {
    kGroupName = 1,         // `peer`: which eight bytes of the name; `value`: the bytes
    kGroupMembers = 2,      // a run of members: `value` = first node << 32 | nodes
    kGroupTree = 3,         // `detail`: 0 reduction, 1 distribution; `stage`: its kind; `peer`: arity; `value`: s
    kGroupTreeLatency = 4,  // ... `value`: r
    kGroup = 5,             // ends the description; `generation`: the lowest that is not over; `value`: participants
    kOpen = 6,        // a generation begins here; `peer`: root; `value`: algorithm, tree, parameter, type, operator
    kSize = 7,        // ... `value`: bytes; `peer`: bytes of a segment
    kCall = 8,        // all local participants have called
    kSend = 9,        // a transfer leaves; `peer`: the receiver's rank; `stage`: the receiver's; `value`: repetition
    kReceive = 10,    // a transfer is in; `peer`: the sender's rank
    kActivated = 11,  // every message of the operation is in
    kVerdict = 12,    // `detail`: the verdict
    kPeerUp = 13,     // `peer`: the node
    kPeerRestarted = 14,
    kPeerRefused = 15,
    kPeerLost = 16,
  };
  Nanoseconds at = 0;
  std::uint64_t value = 0;
  std::uint32_t group = 0;  // the low half of its GroupId
  Generation generation = 0;
  std::uint32_t peer = 0;
  Kind kind = Kind::kGroup;
  Operation operation = Operation::kBarrier;
  std::uint8_t stage = 0;
  std::uint8_t detail = 0;
};
static_assert(sizeof(FlightEvent) == 32);

class FlightRecorder {
 public:
  static constexpr Generation kSnapshotEvery = 1024;

  // `memory` holds the ring; empty: nothing is recorded.
  explicit FlightRecorder(std::span<FlightEvent> memory = {}) : ring_(memory) {}

  void add(const FlightEvent& event) {
    if (ring_.empty()) return;
    ring_[next_] = event;
    ++recorded_;
    if (++next_ == ring_.size()) next_ = 0;
  }
  std::span<std::byte> memory() const { return std::as_writable_bytes(ring_); }
  // All events ever; those from first() on are still there.
  std::uint64_t recorded() const { return recorded_; }
  std::uint64_t first() const { return recorded_ > ring_.size() ? recorded_ - ring_.size() : 0; }
  // Precondition: first() <= number < recorded().
  const FlightEvent& event(std::uint64_t number) const { return ring_[number % ring_.size()]; }

 private:
  std::span<FlightEvent> ring_;
  std::uint64_t recorded_ = 0;
  std::size_t next_ = 0;  // the place of the next one
};

// The algorithm, element type and operator of an operation in one number, and back.
std::uint64_t pack_choice(const AlgorithmChoice& choice, ElementType type, CombineOperator op);
void unpack_choice(std::uint64_t value, AlgorithmChoice& choice, ElementType& type, CombineOperator& op);

}  // namespace fibocast
