// Application messages that have come, until they are received.
#include <algorithm>

#include "collectives/check.h"
#include "runtime/node/mailbox.h"
#include "runtime/node/peers.h"

namespace fibocast::mailbox {

namespace {

void drop(NodeState& state, IncomingMessage& e) {
  if (e.buffer != kNoBuffer) state.buffers->release(e.buffer);
  --peers::of(state, e.peer).inbox_entries;
  e = IncomingMessage{};
  --state.incoming_used;
}

void grant(NodeState& state, IncomingMessage& e, Nanoseconds now) {
  if (e.state == IncomingMessage::State::kAnnounced) {
    if (!peers::is_free_stream(state, e.peer, e.stream)) {  // announced twice
      ++state.counters.malformed;
      return drop(state, e);
    }
    if (e.buffer == kNoBuffer)
      e.buffer = reserve(state, e.bytes, BufferUse::kMessages, is_hosts(state, e.tag)).value_or(kNoBuffer);
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

// Of those that are such. They lie at the beginning of a large table.
template <class Is>
std::uint32_t oldest_incoming(const NodeState& state, Is is) {
  std::uint32_t best = kNoIndex;
  for (std::uint32_t i = 0, left = state.incoming_used; left > 0 && i < state.incoming.size(); ++i) {
    const IncomingMessage& e = state.incoming[i];
    if (e.state == IncomingMessage::State::kFree) continue;
    --left;
    if (is(e) && (best == kNoIndex || e.order < state.incoming[best].order)) best = i;
  }
  return best;
}

// The oldest announced message first, or a later small one could starve a large one of the byte budget.
std::uint32_t oldest_announced(const NodeState& state, bool hosts, std::uint64_t after) {
  return oldest_incoming(state, [&](const IncomingMessage& e) {
    const bool waits = e.state == IncomingMessage::State::kAnnounced || e.grant_owed;
    return waits && e.order > after && is_hosts(state, e.tag) == hosts;
  });
}

void grant_in_order(NodeState& state, bool hosts, Nanoseconds now) {
  std::uint64_t after = 0;
  for (std::uint32_t i = oldest_announced(state, hosts, after); i != kNoIndex;
       i = oldest_announced(state, hosts, after)) {
    after = state.incoming[i].order;
    grant(state, state.incoming[i], now);
    if (state.incoming[i].state == IncomingMessage::State::kAnnounced) return;  // no room: the later ones wait too
  }
}

// An earlier message of the same source and tag is still on its way.
bool must_wait(const NodeState& state, const IncomingMessage& e) {
  const std::uint32_t first =
      oldest_incoming(state, [&](const IncomingMessage& other) { return other.peer == e.peer && other.tag == e.tag; });
  return &state.incoming[first] != &e;
}

std::uint32_t next_for(const NodeState& state, std::uint64_t tag) {
  return oldest_incoming(state, [&](const IncomingMessage& e) {
    return e.state == IncomingMessage::State::kComplete && e.tag == tag && !must_wait(state, e);
  });
}

std::uint32_t half(std::uint32_t credit) { return std::max<std::uint32_t>(credit / 2, 1); }

void consume(NodeState& state, const IncomingMessage& e) {
  Peer& p = peers::of(state, e.peer);
  --p.inbox_entries;
  if (e.peer == state.settings.self || e.session != p.session) return;  // its sender is no more
  const Limits& l = state.limits;
  if (is_hosts(state, e.tag))  // an older node has but one credit for both
    p.credit_owed |= ++p.hosts.consumed % half(std::min(l.host_credit, l.message_credit)) == 0;
  else
    p.credit_owed |= ++p.applications.consumed - p.consumed_told >= half(l.message_credit);
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

std::optional<std::uint64_t> oldest_for_hosts(const NodeState& state) {
  const std::uint32_t entry = oldest_incoming(state, [&](const IncomingMessage& e) {
    return e.state == IncomingMessage::State::kComplete && e.tag >= Node::kFirstReservedTag && !must_wait(state, e);
  });
  return entry == kNoIndex ? std::nullopt : std::optional(state.incoming[entry].tag);
}

bool is_for(const Request& r, std::uint64_t tag) {
  if (r.state == Request::State::kListening) return tag >= Node::kFirstReservedTag;
  return r.state == Request::State::kReceiving && r.tag == tag;
}

// Serves the calls of receive() in the order in which they came.
void match(NodeState& state, std::uint64_t tag) {
  for (;;) {
    const std::uint32_t entry = next_for(state, tag);
    if (entry == kNoIndex) return;
    std::uint32_t best = kNoRequest;
    for (std::uint32_t i = 0; i < state.requests->size(); ++i) {
      const Request& r = state.requests->at(i);
      if (!is_for(r, tag)) continue;
      if (best == kNoRequest || r.order < state.requests->at(best).order) best = i;
    }
    if (best == kNoRequest) return;
    hand_over(state, best, entry);
  }
}

std::uint32_t add_incoming(NodeState& state, NodeId from, std::uint64_t tag, std::uint64_t bytes) {
  std::uint32_t i = 0;
  while (i < state.incoming.size() && state.incoming[i].state != IncomingMessage::State::kFree) ++i;
  if (i == state.incoming.size()) return kNoIndex;
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

// A peer that respects its credit always finds room: what nobody has read of its former lives, or from before it was
// lost, makes way, the oldest first. Its new messages were taken and must come; those were its own to lose.
bool within_credit(NodeState& state, NodeId from) {
  const Limits& l = state.limits;
  const Peer& p = peers::of(state, from);
  if (p.inbox_entries < 2 * l.message_credit + l.host_credit) return true;
  const std::uint32_t oldest = oldest_incoming(state, [&](const IncomingMessage& e) {
    return e.peer == from && e.session != p.session && e.state == IncomingMessage::State::kComplete;
  });
  ++(oldest == kNoIndex ? state.counters.malformed : state.counters.messages_unread);
  if (oldest != kNoIndex) drop(state, state.incoming[oldest]);
  return oldest != kNoIndex;
}

}  // namespace

void tell_credit(NodeState& state, NodeId to, Nanoseconds now) {
  Peer& p = peers::of(state, to);
  if (!p.credit_owed) return;
  PeerMessage m;
  m.type = PeerMessageType::kMessageCredit;
  m.count = p.applications.consumed + p.hosts.consumed;
  if (state.limits.host_credit > 0) m.host_count = p.hosts.consumed;
  p.credit_owed = !peers::send(state, to, m, true, now);  // urgent: a lost one must not hold up what is behind it
  if (!p.credit_owed) p.consumed_told = p.applications.consumed;
}

void grant_in_order(NodeState& state, Nanoseconds now) {
  grant_in_order(state, true, now);
  grant_in_order(state, false, now);
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

Admission receive(NodeState& state, std::optional<std::uint64_t> tag, std::uint64_t cookie) {
  const std::uint32_t i = state.requests->add(tag ? Request::State::kReceiving : Request::State::kListening);
  if (i == kNoRequest) return Admission::kWouldBlock;
  Request& r = state.requests->at(i);
  r.tag = tag.value_or(0);
  r.done.cookie = cookie;
  r.order = ++state.messages_in;
  if (!tag) tag = oldest_for_hosts(state);
  if (tag) match(state, *tag);
  return Admission::kTaken;
}

bool forget_receive(NodeState& state, std::uint64_t cookie) {
  for (std::uint32_t i = 0; i < state.requests->size(); ++i) {
    const Request& r = state.requests->at(i);
    if (!r.is_receive() || r.done.cookie != cookie) continue;
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

void on_stream_complete(NodeState& state, std::uint32_t entry) {
  state.incoming[entry].state = IncomingMessage::State::kComplete;
  match(state, state.incoming[entry].tag);
}

void drop_incoming(NodeState& state, NodeId peer) {
  for (IncomingMessage& e : state.incoming) {
    const bool partial = e.state == IncomingMessage::State::kAnnounced || e.state == IncomingMessage::State::kComing;
    const bool hosts = e.state == IncomingMessage::State::kComplete && is_hosts(state, e.tag);
    if (e.peer == peer && (partial || hosts)) drop(state, e);
  }
}

}  // namespace fibocast::mailbox
