// The node's channels: made at first use, from a pool that may be smaller than the cluster (Limits::channels), and the
// one place where messages to peers are encoded. Core.
#pragma once

#include <cstddef>

#include "runtime/node/node_state.h"

namespace fibocast::peers {

ChannelLimits channel_limits(const Limits& limits);

inline bool cover_all(const Limits& l) { return l.channels == 0 || l.channels >= l.nodes; }
// Of the tables that are kept per peer: this node has an entry too, without a channel.
inline std::uint32_t entries(const Limits& l) { return cover_all(l) ? l.nodes : l.channels + 1; }
// At the start: an entry for each node if there is one, else for this node alone.
void take_first(NodeState& state);
// NodeState::settings has another digest, and perhaps nodes from `first_new` on: they are reached as at the start.
void adopt_cluster(NodeState& state, NodeId first_new, Nanoseconds now);

// Null if there has been nothing to say to or hear from it yet.
inline Peer* find_peer(const NodeState& state, NodeId peer) {
  const std::uint32_t entry = state.peer_map.find(peer);
  return entry == kNoIndex ? nullptr : &state.peers[entry];
}
inline ReliableChannel* find(const NodeState& state, NodeId peer) {
  const Peer* p = find_peer(state, peer);
  return p == nullptr ? nullptr : p->channel;
}
// The channel to a peer, connecting if it is new; null: none is left. Precondition: peer < nodes, not this node.
ReliableChannel* reach(NodeState& state, NodeId peer, Nanoseconds now);
// The same for those that have been heard from, or tried. Precondition: they have an entry.
Peer& of(NodeState& state, NodeId peer);
ReliableChannel& channel(NodeState& state, NodeId peer, Nanoseconds now);
// Nothing happens if there is no room for it.
void set_path(NodeState& state, NodeId peer, const PeerPath& path);

bool connected(const NodeState& state, NodeId peer);
// Tried, now if not before, and not connected for less than the suspicion time: it may only be slow to start.
bool may_come(NodeState& state, NodeId peer, Nanoseconds now);
// Connected, and send() will take a message. False: not now; tried, and NodeState::again is set if the window is full.
bool has_room(NodeState& state, NodeId to, Nanoseconds now);

// Sends a small message, `urgent` if an operation waits for it. False: the window is full just now, or no channel is
// left; the caller keeps the matter in its own state and NodeState::again is set. A payload's buffer gains a reference
// until the peer has it.
bool send(NodeState& state, NodeId to, const PeerMessage& message, bool urgent, Nanoseconds now,
          PayloadRange payload = {});

// Lets go of the payloads of small messages that the peer has acknowledged. Precondition: it has a channel, as below.
void release_acknowledged(NodeState& state, NodeId peer);

// The streams under way to or from a peer.
std::span<StreamOwner> outgoing_owners(NodeState& state, NodeId peer);
std::span<StreamOwner> incoming_owners(NodeState& state, NodeId peer);
// How many more may be opened to this peer now.
std::uint32_t free_streams(NodeState& state, NodeId to);
// Opens a bulk stream and notes who it belongs to. `awaited`: something here waits until the peer has it
// (ReliableChannel::bulk_open). kNoIndex: all streams to this peer are taken just now.
std::uint32_t open_stream(NodeState& state, NodeId to, std::uint64_t total, bool awaited, StreamOwner owner,
                          Nanoseconds now);
// ReliableChannel::bulk_restart(); the owner stays.
std::uint32_t restart_stream(NodeState& state, NodeId to, std::uint32_t stream, Nanoseconds now);
// May a stream that the peer announces have this number? Not if another one that comes from it has.
bool is_free_stream(NodeState& state, NodeId from, std::uint32_t stream);
// Names the buffer of a stream the peer has announced. False: too many are coming in just now. Precondition: its number
// is free.
bool accept_stream(NodeState& state, NodeId from, std::uint32_t stream, PayloadRange target, StreamOwner owner,
                   Nanoseconds now);
// The owner of a stream; null if it was given up.
StreamOwner* outgoing_owner(NodeState& state, NodeId peer, std::uint32_t stream);
StreamOwner* incoming_owner(NodeState& state, NodeId peer, std::uint32_t stream);

// What the host is to know of a peer that came, went or is newer. False: nothing more.
bool poll_event(NodeState& state, Event& out);

// Asks the host to copy bytes of the datagram being handled. At most one datagram, hence one copy, at a time.
void copy(NodeState& state, std::span<const std::byte> bytes, PayloadRange range);

}  // namespace fibocast::peers
