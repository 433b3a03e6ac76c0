// The promises that no run may break, one function and one file each. Each returns what it found wrong, a sentence
// per case, empty if the history keeps the promise.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "firmware_sim/checkers/history.h"

namespace fibocast {

using Faults = std::vector<std::string>;

// Nobody is released from a barrier before every participant of every member has arrived.
Faults check_release(const History& history);
// A multicast reaches each participant at most once, and untorn: the very bytes that its sender gave.
Faults check_multicast(const History& history);
// Application messages arrive exactly once, whole, in order per (source, tag).
Faults check_messages(const History& history);
// A participant's answers come in the order of the generations.
Faults check_generation_order(const History& history);
// Each call has exactly one answer, at the latest `grace` after its deadline, for the generation that was asked.
Faults check_liveness(const History& history);
// All members get the same verdict of a barrier: OK and DEADLINE_EXCEEDED never mix, and the ranks named agree; who
// had not arrived when it was given is named. A call that the window held back until its deadline was counted nowhere:
// it alone may name nobody.
Faults check_verdicts(const History& history);
// An operation for which everybody came, long before the earliest deadline, succeeds for everybody.
Faults check_success(const History& history);
// When all is over no payload bytes are held and no node keeps waking up.
Faults check_leaks(const History& history);

// All of them.
Faults check_all(const History& history);

// For the checkers: records of one generation of one group.
using GenerationKey = std::pair<std::uint32_t, Generation>;  // group index, generation
std::string describe(const History& history, const Record& record);

}  // namespace fibocast
