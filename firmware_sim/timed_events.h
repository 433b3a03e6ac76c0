// What happens on a modelled machine, as plain data in virtual time: a message leaves, moves, asks for its receiver,
// is in; a node sends. And the queue that hands these out in order of time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "collectives/types.h"

namespace fibocast {

using Ticks = std::uint64_t;  // virtual time in a machine's common unit

// At equal time in this order: the network goes first, and receives are requested before sends (PROTOCOL 4).
enum class TimedKind : std::uint8_t {
  kHop,             // a message is at the next place of its way
  kDeparture,       // a message leaves its sender
  kReceived,        // the receiver's occupancy is over
  kReceiveRequest,  // a message is at its receiver and wants its port
  kSend,            // a node that has something to send
};
inline constexpr std::size_t kTimedKinds = 5;

struct TimedEvent {
  Ticks time = 0;
  Rank source = 0;               // the message's sender; else the rank itself
  Rank rank = 0;                 // where it happens
  std::uint32_t transfer = 0;    // index in the sender's transfers
  std::uint32_t repetition = 0;  // of the sender's stage
  std::uint32_t packet = 0;      // the network's own name for a message on its way
  TimedKind kind = TimedKind::kSend;
  std::uint8_t stage = 0;  // in which the receiver waits for it
};

// Events of one time and kind; where the order matters by source, then stage (the rule of every port), then repetition,
// transfer and target, so that no two are equal. A radix heap: an event is moved at most once per bit of the time that
// lies ahead of it. Nothing before the time of the last batch may be pushed.
class TimedEventQueue {
 public:
  // Precondition: event.time >= the time of the last batch.
  void push(const TimedEvent& event);
  // The events of the earliest time and, of these, the first kind; false if there are none.
  bool next_batch(std::vector<TimedEvent>& batch);

 private:
  bool find_next_time();
  std::size_t bucket_of(Ticks time) const;

  static constexpr std::size_t kBuckets = 65;
  std::array<std::vector<TimedEvent>, kBuckets> later_;  // [i]: times that differ from now_ in bit i - 1 at most
  std::array<std::vector<TimedEvent>, kTimedKinds> now_events_;  // of now_, by kind
  std::vector<TimedEvent> moving_;
  Ticks now_ = 0;
};

}  // namespace fibocast
