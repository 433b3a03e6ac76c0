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

using Findings = std::vector<std::string>;

// Nobody is released from a barrier before every participant of every member has arrived.
Findings check_release(const History& history);
// Nor by what the node did before it was started again, unless just before: whose call is of its present life waits for
// the others' next.
Findings check_former_lives(const History& history);
// A multicast reaches each participant at most once, and untorn: the very bytes that its sender gave.
Findings check_multicast(const History& history);
// Application messages arrive exactly once, whole, in order per (source, tag).
Findings check_messages(const History& history);
// A participant's answers come in the order of the generations. One that takes the place of another is told by its node
// where to begin: perhaps in what the other one was told was lost.
Findings check_generation_order(const History& history);
// Each call has exactly one answer, at the latest `grace` after its deadline, for the generation that was asked.
Findings check_liveness(const History& history);
// All members get the same verdict of a barrier: OK and DEADLINE_EXCEEDED never mix, and the ranks named agree; who
// had not arrived when it was given is named. A call that the window held back until its deadline was counted nowhere:
// it alone may name nobody.
Findings check_verdicts(const History& history);
// Who is named, missing or as the straggler, is a member; missing once; and OK names nobody. The other checkers may
// rely on that.
Findings check_names(const History& history);
// PEER_LOST names somebody, and nobody who was there and within reach all the time.
Findings check_losses(const History& history);
// CALLER_LOST names the node of an application that died in this operation, and whose place nobody took in time; and
// tells what it had called its call.
Findings check_callers(const History& history);
// An operation for which everybody came, long before the earliest deadline, succeeds for everybody.
Findings check_success(const History& history);
// Who succeeded in an operation that moves data got what the sequential reference says.
Findings check_results(const History& history);
// A group is there until somebody removes it, and never again afterwards, as long as somebody is there who has removed
// it. Calls in it then end without waiting for their deadlines. A group that can be made is made.
Findings check_removals(const History& history);
// No node ever held more payload bytes or buffers than its limits say.
Findings check_bounds(const History& history);
// When all is over no payload bytes are held, nobody's request is in a table, and no node keeps waking up.
Findings check_leaks(const History& history);

// All of them.
Findings check_all(const History& history);

// For the checkers.
// A node that was cut off from others, or not there, at some time between the two, for at least so long: it may know
// less than they do.
bool troubled(const History& history, NodeId node, Nanoseconds from, Nanoseconds to, Nanoseconds least = 0);
// For less nobody is taken for lost.
inline Nanoseconds shortest_cut(const History& history) {
  return shortest_cut(history.suspicion, history.over_streams);
}
// The node's clock jumps at some time: what it does after a time it does earlier.
bool clock_jumps(const History& history, NodeId node);
// An application died in that generation of the group, at this node (kNoNode: at any), and it is not sure that somebody
// took its place in time.
bool lost_a_caller(const History& history, std::uint32_t group, Generation generation, NodeId node = kNoNode);
// Some node of the group crashed between the two.
bool crashed(const History& history, std::uint32_t group, Nanoseconds from, Nanoseconds to);
// ... from then on, as far as known; what goes wrong later is no promise any more.
bool removed_by(const History& history, std::uint32_t group, Nanoseconds time);
// Records of one generation of one group.
using GenerationKey = std::pair<std::uint32_t, Generation>;  // group index, generation
std::string describe(const History& history, const Record& record);

}  // namespace fibocast
