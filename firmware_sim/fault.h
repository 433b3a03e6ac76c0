// What goes wrong in a run, as data: each fault says when it begins, when it heals, and whom it concerns. A run is a
// function of its seed and its list of faults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/types.h"

namespace fibocast {

struct Fault {
  enum class Kind : std::uint8_t {
    // Of messages to or from `nodes` (none named: of all):
    kLoss,       // with `probability`
    kDuplicate,  // with `probability` there is a second copy
    kReorder,    // each takes up to `time` longer: they overtake one another
    kDelay,      // with `probability` it takes up to `time` longer
    kPartition,  // none passes between `nodes` and the others
    kOneWay,     // none passes from `nodes` to the others
    // Of each of `nodes`:
    kPause,      // it does nothing; what comes waits, as in a socket's buffer
    kCrash,      // it is gone; when this heals it comes back as a new incarnation, with nothing in memory
    kSlow,       // all that it does comes `time` late
    kClockJump,  // its clock goes forward by `time`, at once: a machine that slept. Does not heal
    // Of connections, where there are some (virtual_streams.h):
    kReset,     // each to or from one of `nodes` breaks, with `probability`, at once. Does not heal
    kStall,     // nothing passes on those between two of `nodes`; they stand
    kThrottle,  // each of `nodes` takes `time` to read a frame
  };
  Kind kind = Kind::kLoss;
  Nanoseconds begins = 0;
  Nanoseconds heals = kNever;
  std::vector<NodeId> nodes;  // ascending
  double probability = 1;     // 0 .. 1
  Nanoseconds time = 0;       // above 0 for the kinds that have one
};

// The kinds of messages, for the whole of a run.
inline Fault loss(double probability) { return {.kind = Fault::Kind::kLoss, .nodes = {}, .probability = probability}; }
inline Fault duplicates(double probability) {
  return {.kind = Fault::Kind::kDuplicate, .nodes = {}, .probability = probability};
}

const char* kind_name(Fault::Kind kind);  // "loss", "one-way", ...
bool is_of_messages(Fault::Kind kind);
bool is_of_connections(Fault::Kind kind);
bool has_probability(Fault::Kind kind);
bool has_time(Fault::Kind kind);
bool concerns(const Fault& fault, NodeId node);
// It makes a question and its answer take longer than that, perhaps: who is asked may be taken for lost.
bool may_outlast(const Fault& fault, Nanoseconds suspicion);
// A node that is cut off for less is not taken for lost; over TCP, which sends ever less often what is not
// acknowledged, the silence is up to twice as long, and 200 ms.
Nanoseconds shortest_cut(Nanoseconds suspicion, bool over_streams);
bool cuts(Fault::Kind kind);  // nothing passes between some and others
struct Stretch {
  Nanoseconds begins = 0, ends = 0;
  bool crash = false;  // somebody does, in it
};
// Sorted, and those that overlap are one.
std::vector<Stretch> merged(std::vector<Stretch> stretches);
// When connections break so soon after one another, or while nothing passes, that for half of `suspicion` a question
// and its answer may not have come through. `way`: what a frame takes where nothing is wrong.
std::vector<Stretch> storms(const std::vector<Fault>& faults, Nanoseconds way, Nanoseconds suspicion);
// What is wrong with it in a cluster of so many nodes: a sentence, empty if nothing.
std::string objection(const Fault& fault, std::uint32_t nodes);
std::string describe(const Fault& fault);

}  // namespace fibocast
