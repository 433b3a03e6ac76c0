#include "runtime/node/mailbox.h"

#include <algorithm>

#include "collectives/check.h"
#include "runtime/node/peers.h"

namespace fibocast::mailbox {

namespace {

template <class Entry>
std::uint32_t free_entry(std::span<Entry> entries) {
  for (std::uint32_t i = 0; i < entries.size(); ++i)
    if (entries[i].state == Entry::State::kFree) return i;
  return kNoIndex;
}

bool tag_is_streaming(const NodeState& state, NodeId peer, std::uint64_t tag) {
  for (const OutgoingMessage& o : state.outgoing)
    if (o.state == OutgoingMessage::State::kStreaming && o.peer == peer && o.tag == tag) return true;
  return false;
}

void take_from_queue(NodeState& state, Peer& p) {
  const std::uint32_t i = p.first_outgoing;
  p.first_outgoing = state.outgoing[i].next;
  if (p.first_outgoing == kNoIndex) p.last_outgoing = kNoIndex;
  ++p.sent;
  ++state.counters.messages_sent;
}

void release_payload(NodeState& state, PayloadRange& payload) {
  if (payload.buffer != kNoBuffer) state.buffers->release(payload.buffer);
  payload = {};
}

bool send_eager(NodeState& state, NodeId to, OutgoingMessage& o, Nanoseconds now) {
  PeerMessage m;
  m.type = PeerMessageType::kMessage;
  m.tag = o.tag, m.total_bytes = o.payload.length;
  if (!peers::send(state, to, m, true, now, o.payload)) return false;
  take_from_queue(state, peers::of(state, to));
  release_payload(state, o.payload);
  o.state = OutgoingMessage::State::kFree;
  return true;
}

// Messages wait for applications: they leave half of the streams to operations.
bool may_stream(const NodeState& state, NodeId to) {
  const auto streaming = std::ranges::count_if(state.outgoing, [to](const OutgoingMessage& o) {
    return o.state == OutgoingMessage::State::kStreaming && o.peer == to;
  });
  return streaming < std::max<std::int64_t>(state.limits.bulk_streams / 2, 1);
}

bool announce(NodeState& state, NodeId to, OutgoingMessage& o, Nanoseconds now) {
  if (peers::channel(state, to, now).small_free() == 0 || !may_stream(state, to)) return false;
  const auto index = static_cast<std::uint32_t>(&o - state.outgoing.data());
  const StreamOwner owner{StreamOwner::Kind::kMessage, 0, index, 0, o.payload.buffer};
  o.stream = peers::open_stream(state, to, o.payload.length, true, owner, now);
  if (o.stream == kNoIndex) return false;
  state.buffers->add_reference(o.payload.buffer);
  PeerMessage m;
  m.type = PeerMessageType::kMessageAnnounce;
  m.tag = o.tag, m.total_bytes = o.payload.length, m.stream = o.stream;
  check(peers::send(state, to, m, true, now));
  take_from_queue(state, peers::of(state, to));
  o.state = OutgoingMessage::State::kStreaming;
  return true;
}

void pump_outgoing(NodeState& state, NodeId to, Nanoseconds now) {
  Peer& p = peers::of(state, to);
  while (p.first_outgoing != kNoIndex && p.sent - p.credited < state.limits.message_credit) {
    OutgoingMessage& o = state.outgoing[p.first_outgoing];
    const bool streaming = tag_is_streaming(state, to, o.tag);
    if (streaming && o.payload.length == 0) return;  // an empty one cannot be a stream: it waits for its turn
    const bool eager = o.payload.length <= state.limits.eager_bytes && !streaming;
    if (eager ? !send_eager(state, to, o, now) : !announce(state, to, o, now)) {
      state.again = true;
      return;
    }
  }
}

void tell_credit(NodeState& state, NodeId to, Nanoseconds now) {
  Peer& p = peers::of(state, to);
  if (!p.credit_owed) return;
  PeerMessage m;
  m.type = PeerMessageType::kMessageCredit;
  m.count = p.consumed;
  p.credit_owed = !peers::send(state, to, m, true, now);  // urgent: a lost one must not hold up what is behind it
  if (!p.credit_owed) p.consumed_told = p.consumed;
}

void drop_incoming(NodeState& state, IncomingMessage& e) {
  if (e.buffer != kNoBuffer) state.buffers->release(e.buffer);
  --peers::of(state, e.peer).inbox_entries;
  e = IncomingMessage{};
  --state.incoming_used;
}

void grant(NodeState& state, IncomingMessage& e, Nanoseconds now) {
  if (e.state == IncomingMessage::State::kAnnounced) {
    if (!peers::is_free_stream(state, e.peer, e.stream)) {  // announced twice
      ++state.counters.malformed;
      return drop_incoming(state, e);
    }
    if (e.buffer == kNoBuffer) e.buffer = state.buffers->reserve(e.bytes, BufferUse::kMessages).value_or(kNoBuffer);
    if (e.buffer == kNoBuffer) {
      state.buffers_wanted = true;
      return;
    }
    const auto index = static_cast<std::uint32_t>(&e - state.incoming.data());
    const StreamOwner owner{StreamOwner::Kind::kMessage, 0, index, 0, kNoBuffer};
    if (!peers::accept_stream(state, e.peer, e.stream, PayloadRange{e.buffer, 0, e.bytes}, owner, now)) return;
    e.state = IncomingMessage::State::kComing;
    e.grant_owed = true;
  }
  if (!e.grant_owed) return;
  PeerMessage m;
  m.type = PeerMessageType::kMessageGrant;
  m.stream = e.stream;
  e.grant_owed = !peers::send(state, e.peer, m, true, now);
}

// The oldest announced message first, or a later small one could starve a large one of the byte budget.
std::uint32_t oldest_announced(const NodeState& state, std::uint64_t after) {
  if (state.incoming_used == 0) return kNoIndex;  // in a cluster that only meets in operations, always
  std::uint32_t best = kNoIndex;
  for (std::uint32_t i = 0; i < state.incoming.size(); ++i) {
    const IncomingMessage& e = state.incoming[i];
    const bool waits = e.state == IncomingMessage::State::kAnnounced || e.grant_owed;
    if (waits && e.order > after && (best == kNoIndex || e.order < state.incoming[best].order)) best = i;
  }
  return best;
}

void grant_in_order(NodeState& state, Nanoseconds now) {
  std::uint64_t after = 0;
  for (std::uint32_t i = oldest_announced(state, after); i != kNoIndex; i = oldest_announced(state, after)) {
    after = state.incoming[i].order;
    grant(state, state.incoming[i], now);
    if (state.incoming[i].state == IncomingMessage::State::kAnnounced) return;  // no room: the later ones wait too
  }
}

// An earlier message of the same source and tag is still on its way.
bool must_wait(const NodeState& state, const IncomingMessage& e) {
  for (const IncomingMessage& other : state.incoming)
    if (other.state != IncomingMessage::State::kFree && other.peer == e.peer && other.tag == e.tag &&
        other.order < e.order)
      return true;
  return false;
}

std::uint32_t next_for(const NodeState& state, std::uint64_t tag) {
  std::uint32_t best = kNoIndex;
  for (std::uint32_t i = 0; i < state.incoming.size(); ++i) {
    const IncomingMessage& e = state.incoming[i];
    if (e.state != IncomingMessage::State::kComplete || e.tag != tag || must_wait(state, e)) continue;
    if (best == kNoIndex || e.order < state.incoming[best].order) best = i;
  }
  return best;
}

void consume(NodeState& state, const IncomingMessage& e) {
  Peer& p = peers::of(state, e.peer);
  --p.inbox_entries;
  if (e.peer == state.settings.self || e.session != p.session) return;  // its sender is no more
  ++p.consumed;
  p.credit_owed = p.consumed - p.consumed_told >= std::max<std::uint32_t>(state.limits.message_credit / 2, 1);
  if (p.credit_owed) state.again = true;
}

void hand_over(NodeState& state, std::uint32_t request, std::uint32_t entry) {
  IncomingMessage& e = state.incoming[entry];
  Request& r = state.requests->at(request);
  r.answer = Event::Kind::kMessage;
  r.peer = e.peer, r.tag = e.tag;
  r.done.payload = PayloadRange{e.buffer, 0, e.bytes};
  ++state.counters.messages_received;
  consume(state, e);
  e = IncomingMessage{};
  --state.incoming_used;
  state.requests->answer(request);
}

// Serves the calls of receive(tag) in the order in which they came.
void match(NodeState& state, std::uint64_t tag) {
  for (;;) {
    const std::uint32_t entry = next_for(state, tag);
    if (entry == kNoIndex) return;
    std::uint32_t best = kNoRequest;
    for (std::uint32_t i = 0; i < state.requests->size(); ++i) {
      const Request& r = state.requests->at(i);
      if (r.state != Request::State::kReceiving || r.tag != tag) continue;
      if (best == kNoRequest || r.order < state.requests->at(best).order) best = i;
    }
    if (best == kNoRequest) return;
    hand_over(state, best, entry);
  }
}

std::uint32_t add_incoming(NodeState& state, NodeId from, std::uint64_t tag, std::uint64_t bytes) {
  const std::uint32_t i = free_entry(state.incoming);
  if (i == kNoIndex) return i;
  ++state.incoming_used;
  IncomingMessage& e = state.incoming[i];
  e = IncomingMessage{};
  e.peer = from, e.tag = tag, e.bytes = bytes;
  Peer& p = peers::of(state, from);
  e.session = p.session;
  e.order = ++state.messages_in;
  ++p.inbox_entries;
  return i;
}

// Own messages have as many entries as there can be requests; the rest is for those of peers, who have credit for it.
Admission send_to_self(NodeState& state, std::uint64_t tag, PayloadRange payload) {
  if (peers::of(state, state.settings.self).inbox_entries >= state.limits.requests) return Admission::kWouldBlock;
  const std::uint32_t i = add_incoming(state, state.settings.self, tag, payload.length);
  check(i != kNoIndex);
  state.incoming[i].buffer = payload.buffer;
  state.incoming[i].state = IncomingMessage::State::kComplete;
  ++state.counters.messages_sent;
  match(state, tag);
  return Admission::kTaken;
}

// A peer that respects its credit always finds room.
bool within_credit(NodeState& state, NodeId from) {
  const bool ok = peers::of(state, from).inbox_entries < 2 * state.limits.message_credit;
  if (!ok) ++state.counters.malformed;
  return ok;
}

}  // namespace

Admission send(NodeState& state, NodeId to, std::uint64_t tag, PayloadRange payload, Nanoseconds now) {
  if (to >= state.settings.nodes) return Admission::kBadRank;
  if (!state.buffers->can_ever_fit(payload.length)) return Admission::kTooLarge;
  if (to == state.settings.self) return send_to_self(state, tag, payload);
  const std::uint32_t i = free_entry(state.outgoing);
  if (i == kNoIndex || peers::reach(state, to, now) == nullptr) return Admission::kWouldBlock;
  OutgoingMessage& o = state.outgoing[i];
  o = OutgoingMessage{OutgoingMessage::State::kQueued, to, tag, payload, 0, kNoIndex};
  Peer& p = peers::of(state, to);
  (p.last_outgoing == kNoIndex ? p.first_outgoing : state.outgoing[p.last_outgoing].next) = i;
  p.last_outgoing = i;
  pump_outgoing(state, to, now);
  return Admission::kTaken;
}

Admission receive(NodeState& state, std::uint64_t tag, std::uint64_t cookie) {
  const std::uint32_t i = state.requests->add(Request::State::kReceiving);
  if (i == kNoRequest) return Admission::kWouldBlock;
  Request& r = state.requests->at(i);
  r.tag = tag;
  r.done.cookie = cookie;
  r.order = ++state.messages_in;
  match(state, tag);
  return Admission::kTaken;
}

bool forget_receive(NodeState& state, std::uint64_t cookie) {
  for (std::uint32_t i = 0; i < state.requests->size(); ++i) {
    const Request& r = state.requests->at(i);
    if (r.state != Request::State::kReceiving || r.done.cookie != cookie) continue;
    state.requests->release(i);
    return true;
  }
  return false;
}

void on_message(NodeState& state, NodeId from, const PeerMessage& m, std::span<const std::byte> payload) {
  if (payload.size() != m.total_bytes || !within_credit(state, from)) {
    ++state.counters.malformed;
    return;
  }
  const auto buffer = state.buffers->reserve(payload.size(), BufferUse::kEager);
  const std::uint32_t i = buffer ? add_incoming(state, from, m.tag, payload.size()) : kNoIndex;
  if (i == kNoIndex) {  // only a peer that does not keep to its credit gets here
    if (buffer) state.buffers->release(*buffer);
    ++state.counters.malformed;
    return;
  }
  state.incoming[i].buffer = *buffer;
  state.incoming[i].state = IncomingMessage::State::kComplete;
  if (!payload.empty()) peers::copy(state, payload, PayloadRange{*buffer, 0, payload.size()});
  match(state, m.tag);
}

void on_announce(NodeState& state, NodeId from, const PeerMessage& m, Nanoseconds now) {
  if (!within_credit(state, from) || m.total_bytes == 0 || !state.buffers->can_ever_fit(m.total_bytes)) {
    ++state.counters.malformed;
    return;
  }
  const std::uint32_t i = add_incoming(state, from, m.tag, m.total_bytes);
  check(i != kNoIndex);
  IncomingMessage& e = state.incoming[i];
  e.state = IncomingMessage::State::kAnnounced;
  e.stream = m.stream;
  grant_in_order(state, now);
}

void on_grant(NodeState& state, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const StreamOwner* owner = peers::outgoing_owner(state, from, m.stream);
  if (owner == nullptr || owner->kind != StreamOwner::Kind::kMessage) return;
  const OutgoingMessage& o = state.outgoing[owner->index];
  peers::channel(state, from, now).bulk_extend(m.stream, o.payload, o.payload.length, now);
}

void on_credit(NodeState& state, NodeId from, const PeerMessage& m, Nanoseconds now) {
  Peer& p = peers::of(state, from);
  if (m.count - p.credited <= p.sent - p.credited) p.credited = m.count;
  pump_outgoing(state, from, now);
}

void on_stream_complete(NodeState& state, std::uint32_t entry) {
  state.incoming[entry].state = IncomingMessage::State::kComplete;
  match(state, state.incoming[entry].tag);
}

void on_stream_sent(NodeState& state, std::uint32_t entry, Nanoseconds now) {
  OutgoingMessage& o = state.outgoing[entry];
  const NodeId to = o.peer;
  release_payload(state, o.payload);
  o.state = OutgoingMessage::State::kFree;
  pump_outgoing(state, to, now);
}

void forget_peer(NodeState& state, NodeId peer) {
  Peer& p = peers::of(state, peer);
  p.sent = p.credited = p.consumed = p.consumed_told = 0;
  p.credit_owed = false;
  for (IncomingMessage& e : state.incoming) {
    const bool partial = e.state == IncomingMessage::State::kAnnounced || e.state == IncomingMessage::State::kComing;
    if (e.peer != peer || !partial) continue;
    drop_incoming(state, e);
  }
}

void drop_outgoing(NodeState& state, NodeId peer) {
  Peer& p = peers::of(state, peer);
  for (OutgoingMessage& o : state.outgoing) {
    if (o.state != OutgoingMessage::State::kQueued || o.peer != peer) continue;
    release_payload(state, o.payload);
    o = OutgoingMessage{};
    ++state.counters.messages_dropped;
  }
  p.first_outgoing = p.last_outgoing = kNoIndex;
}

void pump(NodeState& state, Nanoseconds now) {
  for (std::uint32_t i = 0; i < state.peers_used; ++i) {
    if (state.peers[i].channel == nullptr) continue;
    tell_credit(state, state.peers[i].node, now);
    pump_outgoing(state, state.peers[i].node, now);
  }
  grant_in_order(state, now);
}

}  // namespace fibocast::mailbox
