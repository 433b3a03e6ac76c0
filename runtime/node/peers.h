// The node's channels: made at first use, and the one place where messages to peers are encoded. Core.
#pragma once

#include <cstddef>

#include "runtime/node/node_state.h"

namespace fibocast::peers {

ChannelLimits channel_limits(const Limits& limits);

// The channel to a peer, connecting if it is new. Precondition: peer < nodes, not this node.
ReliableChannel& channel(NodeState& state, NodeId peer, Nanoseconds now);
// Null if there has been nothing to say to or hear from it yet.
inline ReliableChannel* find(const NodeState& state, NodeId peer) { return state.peers[peer].channel; }
bool connected(const NodeState& state, NodeId peer);
// Not connected, and tried for less than the suspicion time: it may only be slow to start.
bool may_come(const NodeState& state, NodeId peer, Nanoseconds now);

// Sends a small message, `urgent` if an operation waits for it. False: the window is full just now; the caller keeps
// the matter in its own state and NodeState::again is set. A payload's buffer gains a reference until the peer has it.
bool send(NodeState& state, NodeId to, const PeerMessage& message, bool urgent, Nanoseconds now,
          PayloadRange payload = {});

// Lets go of the payloads of small messages that the peer has acknowledged.
void release_acknowledged(NodeState& state, NodeId peer);

// Opens a bulk stream and notes who it belongs to. kNoIndex: all streams to this peer are taken just now.
std::uint32_t open_stream(NodeState& state, NodeId to, std::uint64_t total, StreamOwner owner, Nanoseconds now);
// Names the buffer of a stream the peer has announced. False: too many are coming in just now.
bool accept_stream(NodeState& state, NodeId from, std::uint32_t stream, PayloadRange target, StreamOwner owner,
                   Nanoseconds now);
// The owner of a stream; null if it was given up.
StreamOwner* outgoing_owner(NodeState& state, NodeId peer, std::uint32_t stream);
StreamOwner* incoming_owner(NodeState& state, NodeId peer, std::uint32_t stream);

// Asks the host to copy bytes of the datagram being handled. At most one datagram, hence one copy, at a time.
void copy(NodeState& state, std::span<const std::byte> bytes, PayloadRange range);

}  // namespace fibocast::peers
