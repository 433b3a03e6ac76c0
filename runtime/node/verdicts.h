// Deadlines and verdicts (PROTOCOL 8). A node whose deadline has passed asks the coordinator: the lowest rank from the
// operation's root onwards that it is connected to. The coordinator freezes the generation at every member and asks how
// far each is; one member that completed a barrier proves that all had arrived. Then everybody gets one verdict. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::verdicts {

void on_timer(NodeState& state, Nanoseconds now);
void on_request(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);
void on_freeze(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);
void on_freeze_answer(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);
void on_verdict(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);
// The peer does not know the group at all: it cannot take part.
void on_unknown_group(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);
// How the generation of this slot ended, which is on record. Where others have its data, who asks has not: because of
// `ranks`, if they are not empty. False: the channel is full.
bool tell_recorded(NodeState& state, std::uint32_t slot, NodeId to, Nanoseconds now, Verdict why = Verdict::kPeerLost,
                   const RankSet& ranks = {});
// This node has long been done with the slot's operation and knows of no failure, but somebody will not have its data
// any more, as `ranks` were away, or do not know how it is done: all are told so. Nobody if another question is under
// way: the asker asks again.
void tell_all(NodeState& state, std::uint32_t slot, NodeId asker, Verdict why, const RankSet& ranks, Nanoseconds now);
// The answer to on_request() of a generation that is on record. If the channel is full: asked again.
void answer_from_record(NodeState& state, std::uint32_t slot, NodeId from, const PeerMessage& m, Nanoseconds now);
// The generation the peer asks about is over here, and forgotten.
void tell_forgotten(NodeState& state, std::uint32_t group, NodeId to, const PeerMessage& question, Nanoseconds now);
// Goes on with questions and answers that waited for channels.
void pump(NodeState& state, Nanoseconds now);

}  // namespace fibocast::verdicts
