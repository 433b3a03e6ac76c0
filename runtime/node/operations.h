// The open generations of each group: local calls come in, transfers come and go as the engine's schedule says,
// the operation ends with one verdict, and the window of open generations moves on. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::operations {

// -- local calls
Admission call(NodeState& state, const Call& call, Nanoseconds now);
Admission pass(NodeState& state, const Call& call, Nanoseconds now);
// Lays out what the group's next operations need, as for barriers: their schedules, and with them the memory, which the
// system has to find for us when it is used for the first time. That made each of the first barriers, one for each
// generation that may be open, take twice as long as the later ones.
void prepare(NodeState& state, std::uint32_t group);
// Calls whose not_before has come, held calls whose deadline has passed.
void on_request_timer(NodeState& state, Nanoseconds now);

// -- messages of peers; the sender is a member of the group. `payload` is what rode along.
void on_transfer(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m,
                 std::span<const std::byte> payload, Nanoseconds now);
void on_announce(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);
void on_grant(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);
void on_decline(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);
void on_postpone(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);
void on_window(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);
void on_stream_progress(NodeState& state, std::uint32_t slot, std::uint32_t index, std::uint64_t contiguous,
                        bool complete, Nanoseconds now);
// The receiver of the transfer `index` has all of its data (or will never need it: it is a new incarnation).
void on_stream_sent(NodeState& state, std::uint32_t slot, std::uint32_t index, Nanoseconds now);
void on_nic(NodeState& state, const NicDue& due, Nanoseconds now);

// -- for the verdicts
// The slot of a generation, opened if it is not yet; kNoIndex if it is outside of the open generations.
std::uint32_t open_slot(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now);
// Whether this generation's outcome is on record here, and where; kNoIndex if not.
std::uint32_t recorded_slot(NodeState& state, std::uint32_t group, Generation generation);
// It is over here, on record or not.
bool is_over(NodeState& state, std::uint32_t group, Generation generation);
// ... and who sends a message of it is told how it ended.
void answer_late(NodeState& state, std::uint32_t group, NodeId to, const PeerMessage& m, Nanoseconds now);
// A verdict that came after the window had moved past its generation, for those who call late.
void record(NodeState& state, std::uint32_t group, const PeerMessage& m);
void conclude(NodeState& state, std::uint32_t slot, Verdict verdict, const RankSet& ranks, Nanoseconds now);
// Everybody is done with the generations before `base`: what is still open of them here is stale.
void sync_window(NodeState& state, std::uint32_t group, Generation base, Nanoseconds now);
// -- for the epochs
// An open barrier begins again, as the group is now. False: its algorithm is not possible among so many ranks.
bool repeat(NodeState& state, std::uint32_t slot, Nanoseconds now);
// Places the calls that are held, as far as they may.
void retry_calls(NodeState& state, std::uint32_t group, Nanoseconds now);
// This member takes part from generation `base` on, whatever it did before: nothing of it is on record any more.
void begin_at(NodeState& state, std::uint32_t group, Generation base, Nanoseconds now);

// Nobody here takes part in the generations before `base` any more.
void skip_to(NodeState& state, std::uint32_t group, Generation base, Nanoseconds now);
// The identity of an operation, for messages about it.
PeerMessage message_about(const NodeState& state, std::uint32_t slot, PeerMessageType type);

// Goes on with whatever waited for a channel, the NIC or the byte budget.
void pump_all(NodeState& state, Nanoseconds now);
void cancel_all(NodeState& state, std::uint32_t group, Nanoseconds now);

// -- between the files of operations
void pump(NodeState& state, std::uint32_t slot, Nanoseconds now);
// This rank or others moved on: tells whom it concerns and lets in the calls that waited for it.
void on_window_moved(NodeState& state, std::uint32_t group, Nanoseconds now);
// The earliest of the calls that wait in the slot; kNever if none does.
Nanoseconds deadline_of(const NodeState& state, const Slot& s);
void close_if_through(NodeState& state, std::uint32_t slot, Nanoseconds now);
// Nobody there (kNoNode: anywhere) wants the rest of what has ended here, of the generations before this one.
void give_up_streams(NodeState& state, std::uint32_t group, NodeId to, Generation before, Nanoseconds now);
// Counts a call in the slot of its generation, holds it until the window lets it in, or answers it from the record.
void place_call(NodeState& state, std::uint32_t request, Nanoseconds now);
void hold(NodeState& state, std::uint32_t request);
void answer_call(NodeState& state, std::uint32_t request, std::uint32_t slot);
void refuse_call(NodeState& state, std::uint32_t request, Verdict verdict);

}  // namespace fibocast::operations
