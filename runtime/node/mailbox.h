// Application messages: send(rank, tag, bytes) that forgets, receive(tag). Small ones ride in the small lane, large
// ones are announced there and come as a bulk stream. A peer may send Limits::message_credit messages before one of
// them has been received by an application here. There are places for as many of a former life of it; what is unread of
// still older ones makes way, and is counted. Order per (source, tag): the announcement keeps its place among the small
// ones; a small message that follows a large one of the same tag still under way goes as a stream too, and
// streams are handed out in the order of their announcements. What hosts say to each other, with reserved tags, has a
// credit, a queue and some room of its own: an application that does not read does not hold it up. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::mailbox {

// Of the host itself.
inline bool is_hosts(const NodeState& state, std::uint64_t tag) {
  return tag >= Node::kFirstReservedTag && state.limits.host_credit > 0;
}
// A buffer for a message.
std::optional<BufferId> reserve(NodeState& state, std::uint64_t bytes, BufferUse use, bool hosts);
std::optional<BufferId> reserve_outgoing(NodeState& state, std::uint64_t bytes, BufferFor use);
Admission send(NodeState& state, NodeId to, std::uint64_t tag, PayloadRange payload, Nanoseconds now);
Admission receive(NodeState& state, std::optional<std::uint64_t> tag, std::uint64_t cookie);
bool forget_receive(NodeState& state, std::uint64_t cookie);

void on_message(NodeState& state, NodeId from, const PeerMessage& m, std::span<const std::byte> payload);
void on_announce(NodeState& state, NodeId from, const PeerMessage& m, Nanoseconds now);
void on_grant(NodeState& state, NodeId from, const PeerMessage& m, Nanoseconds now);
void on_credit(NodeState& state, NodeId from, const PeerMessage& m, Nanoseconds now);
void on_stream_complete(NodeState& state, std::uint32_t entry);
void on_stream_sent(NodeState& state, std::uint32_t entry, Nanoseconds now);
void forget_peer(NodeState& state, NodeId peer);  // a new incarnation
// What waits for this peer will not be sent: it is lost.
void drop_outgoing(NodeState& state, NodeId peer);
// Goes on with what waited for channels, credit or the byte budget.
void pump(NodeState& state, Nanoseconds now);

// Of what has come (mailbox_in.cc).
Admission send_to_self(NodeState& state, std::uint64_t tag, PayloadRange payload);
void tell_credit(NodeState& state, NodeId to, Nanoseconds now);
void grant_in_order(NodeState& state, Nanoseconds now);
// All that is not whole, and what its host has said to ours.
void drop_incoming(NodeState& state, NodeId peer);

}  // namespace fibocast::mailbox
