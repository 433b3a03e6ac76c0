// Who is in a group now: its epochs (PROTOCOL 9). A group of policy `survivors` or `quorum` goes on without members
// that are lost, under a new number; members that are back join the next one. Core.
//
// A change has three steps, led by the lowest live rank of the epoch:
//   stop     each member of the proposal promises to take part in no lower number, ignores its epoch from now on, and
//            says how far each open generation is
//   install  once all have answered and they are a majority: how each generation ends, or that it begins again in the
//            new epoch; members take in its messages and send none
//   go       once all have installed it: nobody sends in an epoch that somebody does not know
// Two lists never go on side by side: each needs all of its members to install it, and a majority of the epoch before
// to promise it; a member that is in both has promised the later number before it could install the earlier one (then
// that never goes), or has installed it, and says so. A member whose process is known to be dead does not count in
// the majority; of exactly half, the half with the lowest rank is it.
//
// Barriers that nobody was released from begin again; if anybody was, all had arrived, and all are released. Operations
// with data that are under way end with PEER_LOST where they have not ended. A member that cannot reach a majority, or
// waits in vain for a change, ends its operations with PARTITIONED, and so do its later calls, until it is in again.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::epochs {

// Messages of the running epoch are taken in: it is not being stopped.
inline bool takes_in(const GroupState& g) { return g.change.step != EpochChange::Step::kStopped; }
// ... and operations may go on.
inline bool runs(const GroupState& g) { return g.change.step == EpochChange::Step::kRunning; }
// Its epoch may change: the others exist by their names alone.
inline bool may_change(const GroupState& g) { return g.created && g.rank != kNoRank; }
// Losses are dealt with here, not by ending every operation.
inline bool shrinks(const GroupState& g) { return g.policy != GroupPolicy::kAll; }

// -- events of the failure detector
// A node is lost. `confirmed`: its process is dead, or another one by now.
void on_lost(NodeState& state, NodeId node, bool confirmed, Nanoseconds now);
// It is a new process: what it knew of the group's epochs is lost; it is told when it has the definition.
void on_restarted(NodeState& state, NodeId node, Nanoseconds now);
// It has given us up meanwhile.
void on_returned(NodeState& state, NodeId node, Nanoseconds now);

// -- calls
// A call is refused with this verdict, because of these ranks; kPending: it is not.
Verdict refuses(const NodeState& state, std::uint32_t group, RankSet& ranks);
// The call is to wait until the epoch has changed; who is outside asks to be let in.
bool holds_calls(NodeState& state, std::uint32_t group, Nanoseconds now);

// -- messages; the sender is a member of the group
void on_message(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);
// An operation's message of another epoch than ours, or from outside: a member that is outside is told.
void on_foreign(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);
// Tells a newcomer that has the definition, if it is outside. False: no room just now.
bool greet(NodeState& state, std::uint32_t group, NodeId newcomer, Nanoseconds now);

// Goes on with what waited for channels, answers or time.
void pump(NodeState& state, std::uint32_t group, Nanoseconds now);

// -- between the files of epochs
Rank leader_of(const NodeState& state, const GroupState& g);
void stop(NodeState& state, std::uint32_t group, Epoch next, Nanoseconds now);
// The new epoch's list is GroupState::proposed; `m` says how generations end.
bool install(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now);
void go(NodeState& state, std::uint32_t group, Nanoseconds now);
// Says that we have stopped, or installed; if there is no room, with the next pump().
void answer_leader(NodeState& state, std::uint32_t group, Nanoseconds now);
// Members of the open epoch that can be reached are no majority: see above.
bool is_cut_off(const NodeState& state, std::uint32_t group);
bool has_majority(const NodeState& state, std::uint32_t group, const RankBits& list);
PeerMessage message(const GroupState& g, PeerMessageType type, Epoch next);
bool tell_outside(NodeState& state, std::uint32_t group, NodeId to, Nanoseconds now);
// A member asks for a change: because it lost somebody, or because it wants in.
void want(NodeState& state, GroupState& g, Nanoseconds now);
// What members were asked about this epoch. Whether they take the group's definition, or its end, has nothing to do
// with epochs: who wants to know is answered all the same.
inline void forget_inquiry(GroupState& g) {
  const bool about_all = g.inquiry.phase == Inquiry::Phase::kDefining || g.inquiry.phase == Inquiry::Phase::kRemoving;
  if (!about_all) g.inquiry.phase = Inquiry::Phase::kIdle;
}
// The group goes on without us.
void leave(NodeState& state, std::uint32_t group, Nanoseconds now);

// How far a generation is at a member, and what is to become of it: one byte each in messages. Of two members' the
// larger one holds.
enum class GenerationFate : std::uint8_t {
  kNone,       // nobody has opened it
  kDelivered,  // with data, and over for somebody: PEER_LOST for those who have not even begun
  kRepeated,   // a barrier that is open: begins again
  kEnded,      // open, with data: PEER_LOST
  kDecided,    // somebody has another verdict on record: it is asked for; PEER_LOST for who joins
  kReleased,   // a barrier that somebody was released from
};
// Whoever has not begun it begins it no more: the others will not take part.
inline bool is_over(GenerationFate fate) {
  return fate == GenerationFate::kDelivered || fate == GenerationFate::kEnded || fate == GenerationFate::kReleased;
}
// How many generations are spoken of: from GroupState::base - W to base + 2 W - 1.
inline std::uint32_t outcomes_of(const NodeState& state) { return 3 * state.limits.open_generations; }
inline Generation first_outcome(const NodeState& state, const GroupState& g) {
  return g.base - state.limits.open_generations;  // may wrap: generations are compared by their distance only
}
// How far each is here, written to the group's part of NodeState::outcomes.
std::span<std::byte> outcomes(NodeState& state, std::uint32_t group);

namespace leader {
// Numbers are unique: of each proposer its own.
Epoch next_number(const NodeState& state, const GroupState& g);
// All members are through with what they had called, and wait: they get the plan of NodeState::replanning.
void begin_planned(NodeState& state, std::uint32_t group, Nanoseconds now);
// Proposes a new epoch if this node is to, and one is wanted.
void propose(NodeState& state, std::uint32_t group, Nanoseconds now);
void pump(NodeState& state, std::uint32_t group, Nanoseconds now);
// The group is removed: nobody is waited for any more.
void forget(NodeState& state, std::uint32_t group, Nanoseconds now);
void on_stopped(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now);
void on_installed(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now);
inline bool is_busy(const GroupState& g) {
  return g.inquiry.phase == Inquiry::Phase::kStopping || g.inquiry.phase == Inquiry::Phase::kInstalling ||
         g.inquiry.phase == Inquiry::Phase::kGoing;
}
}  // namespace leader

}  // namespace fibocast::epochs
