// Dispatch only: events go to the part they concern, outputs are collected from the parts.
#include "runtime/node/node.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "collectives/check.h"
#include "runtime/node/abandon.h"
#include "runtime/node/dispatch.h"
#include "runtime/node/flight_log.h"
#include "runtime/node/greetings.h"
#include "runtime/node/group_admin.h"
#include "runtime/node/groups.h"
#include "runtime/node/local_data.h"
#include "runtime/node/mailbox.h"
#include "runtime/node/node_state.h"
#include "runtime/node/operations.h"
#include "runtime/node/peers.h"
#include "runtime/node/presence.h"
#include "runtime/node/replan.h"
#include "runtime/node/stragglers.h"
#include "runtime/node/streams.h"
#include "runtime/node/verdicts.h"

namespace fibocast {

namespace {

void on_progress(NodeState& s, NodeId from, const Delivery& d, Nanoseconds now) {
  StreamOwner* owner = peers::incoming_owner(s, from, d.stream);
  if (owner == nullptr) return;
  const StreamOwner o = *owner;
  if (d.complete) owner->kind = StreamOwner::Kind::kNone;
  if (o.kind == StreamOwner::Kind::kOperation)
    operations::on_stream_progress(s, o.index, o.transfer, d.contiguous, d.complete, now);
  else if (d.complete)
    mailbox::on_stream_complete(s, o.index);
}

void on_restart(NodeState& s, NodeId peer, Nanoseconds now) {
  mailbox::forget_peer(s, peer);  // what is sent from here on counts for the new incarnation
  streams::forget_peer(s, peer, now);
  presence::on_restarted(s, peer, now);
  peers::of(s, peer).restarted_event = s.peer_events = true;
  flight_log::peer(s, FlightEvent::Kind::kPeerRestarted, peer, now);
}

void on_small(NodeState& s, NodeId from, const Delivery& d, Nanoseconds now) {
  const std::optional<PeerMessage> m = decode_peer_message(d.body);
  if (!m) {
    ++s.counters.malformed;
    return;
  }
  if (!m->understood) {
    ++s.counters.not_understood;
    peers::of(s, from).newer_event = s.peer_events = true;
  }
  dispatch::on_message(s, from, *m, d.payload, now);
}

void on_delivery(NodeState& s, NodeId from, const Delivery& d, Nanoseconds now) {
  Peer& p = peers::of(s, from);
  switch (d.kind) {
    case Delivery::Kind::kConnected:
      ++p.session;
      presence::on_connected(s, from, now);
      greetings::on_newcomer(s, from);
      p.up_event = s.peer_events = s.again = true;
      return flight_log::peer(s, FlightEvent::Kind::kPeerUp, from, now);
    case Delivery::Kind::kPeerRestarted: return on_restart(s, from, now);
    case Delivery::Kind::kRefused:
      p.refused_digest = d.peer_digest;
      p.refused_event = s.peer_events = true;
      return flight_log::peer(s, FlightEvent::Kind::kPeerRefused, from, now);
    case Delivery::Kind::kSmall: return on_small(s, from, d, now);
    case Delivery::Kind::kBulkData: return peers::copy(s, d.payload, d.target);
    case Delivery::Kind::kBulkProgress: return on_progress(s, from, d, now);
    case Delivery::Kind::kBulkSent: return streams::on_sent(s, from, d.stream, now);
  }
}

void drain(NodeState& s, NodeId from, Nanoseconds now) {
  peers::release_acknowledged(s, from);  // first: what is sent below takes the places of what was acknowledged
  Delivery d;
  ReliableChannel& channel = *peers::find(s, from);
  while (channel.poll_delivery(d)) on_delivery(s, from, d, now);
}

void run_nic(NodeState& s, Nanoseconds now) {
  NicDue due;
  while (s.nic->poll(now, due)) operations::on_nic(s, due, now);
}

// Every event may have made room for what was waiting.
void settle(NodeState& s, Nanoseconds now) {
  if (s.nic->enabled()) run_nic(s, now);
  presence::pump(s, now);
  if (s.slot_timer <= now) verdicts::on_timer(s, now);
  if (!s.again) return;
  s.again = false;
  greetings::pump(s, now);
  operations::pump_all(s, now);
  for (std::uint32_t group = 0; group < s.groups.size(); ++group)
    if (s.groups[group].used) group_admin::pump(s, group, now);
  verdicts::pump(s, now);
  mailbox::pump(s, now);
}

// From another node of the cluster, for this one.
bool is_ours(const NodeState& s, const Frame& frame) {
  return frame.to == s.settings.self && frame.from < s.settings.nodes && frame.from != s.settings.self;
}

bool on_frame(NodeState& s, const Frame* frame, Nanoseconds now) {
  if (frame == nullptr || !is_ours(s, *frame)) {
    ++s.counters.malformed;
    return false;
  }
  ReliableChannel* channel = peers::reach(s, frame->from, now);
  if (channel == nullptr) return true;  // counted; it will try again
  if (channel->on_frame(*frame, now)) presence::on_heard(s, frame->from, now);
  drain(s, frame->from, now);
  settle(s, now);
  return true;
}

void fill_event(const NodeState& s, const Request& r, Event& out) {
  std::construct_at(&out);
  out.kind = r.answer;
  if (r.answer == Event::Kind::kMessage)
    out.range = r.done.payload;
  else
    out.done = r.done;
  if (r.done.verdict == Verdict::kCallerLost) out.label = abandon::label_of(s.groups[r.group], r.done.generation);
  out.cookie = r.done.cookie;
  out.peer = r.peer, out.tag = r.tag;
}

bool poll_answer(NodeState& s, Event& out) {
  for (std::uint32_t i = s.requests->poll_answer(); i != kNoRequest; i = s.requests->poll_answer()) {
    if (abandon::keep_answer(s, i)) continue;
    fill_event(s, s.requests->at(i), out);
    const bool forgotten = s.requests->at(i).forgotten;
    const BufferId payload = s.requests->at(i).done.payload.buffer;
    if (s.requests->at(i).passes)
      operations::hold(s, i), s.again = true;
    else
      s.requests->release(i);
    if (!forgotten) return true;
    if (payload != kNoBuffer) s.buffers->release(payload);
  }
  return false;
}

struct Entries {
  std::uint32_t begin, end;
};

// Who copies payloads from our memory is to find several at a time: to let another process run between two costs as
// much as to copy them. To send that they are there costs little.
constexpr std::uint32_t kMostInARow = 32;

// Whose turn is next: one peer after the other, so that none keeps the others waiting.
void pass_turn(NodeState& s, std::uint32_t entry, const Transmit& sent) {
  if (entry != s.next_to_transmit) s.sent_in_a_row = 0;
  const bool goes_on = s.peers[entry].by_reference && sent.payload.length > 0 && ++s.sent_in_a_row < kMostInARow;
  if (!goes_on) s.sent_in_a_row = 0;
  s.next_to_transmit = goes_on ? entry : entry + 1;
}

// The operation and three streams that send the same: what is large may leave for all of them at once.
constexpr std::uint32_t kManyReferences = 4;

bool goes_to_many(const NodeState& s, const Transmit& frame) {
  return frame.payload.buffer != kNoBuffer && s.buffers->references(frame.payload.buffer) >= kManyReferences;
}

bool transmit_to(NodeState& s, Entries entries, Nanoseconds now, std::span<std::byte> scratch, Transmit& out) {
  for (std::uint32_t i = s.ready.next_ready(entries.begin); i < entries.end; i = s.ready.next_ready(i + 1)) {
    const Peer& p = s.peers[i];
    if (!p.writable) continue;
    if (!p.channel->poll_transmit(now, scratch, out)) {
      s.ready.rest(i, p.channel->next_deadline());
      continue;
    }
    out.may_wait = out.may_wait || (!out.resend && goes_to_many(s, out));
    pass_turn(s, i, out);
    return true;
  }
  return false;
}

}  // namespace

void Node::start(Nanoseconds now) {
  state_->born_at = now;
  if (!peers::cover_all(state_->limits)) return;
  for (NodeId i = 0; i < state_->settings.nodes; ++i)
    if (i != state_->settings.self) peers::reach(*state_, i, now);
  presence::start(*state_, now);
}

Admission Node::open_group(std::string_view name, std::uint32_t participants, GroupId& id, Generation& generation) {
  return group_admin::open(*state_, name, participants, id, generation);
}

Admission Node::create_group(const GroupDefinition& definition, std::uint64_t cookie, Nanoseconds now) {
  const Admission a = group_admin::create(*state_, definition, cookie, now);
  settle(*state_, now);
  return a;
}

void Node::adopt_cluster(std::uint32_t nodes, std::uint64_t cluster_digest, const Plan& plan, Nanoseconds now) {
  NodeSettings& s = state_->settings;
  check(nodes >= s.nodes && nodes <= state_->limits.nodes);
  const NodeId first_new = s.nodes;
  s.nodes = nodes, s.cluster_digest = cluster_digest, s.plan = plan;
  if (state_->detector != nullptr) state_->detector->grow(nodes);
  peers::adopt_cluster(*state_, first_new, now);
  greetings::begin_telling_of_adoption(*state_);
  settle(*state_, now);
}

void Node::leave(Nanoseconds now) {
  presence::leave(*state_, now);
  settle(*state_, now);
}

Admission Node::replan_group(std::string_view name, const Plan& plan, std::uint64_t cookie, Nanoseconds now) {
  const Admission a = replan::begin(*state_, name, plan, cookie, now);
  settle(*state_, now);
  return a;
}

Admission Node::remove_group(std::string_view name, Nanoseconds now) {
  const Admission a = group_admin::remove(*state_, name, now);
  settle(*state_, now);
  return a;
}

Admission Node::call(const Call& call, Nanoseconds now) {
  const Admission a = operations::call(*state_, call, now);
  settle(*state_, now);
  return a;
}

Admission Node::pass(const Call& call, Nanoseconds now) {
  const Admission a = operations::pass(*state_, call, now);
  settle(*state_, now);
  return a;
}

void Node::forget_call(std::uint64_t cookie) {
  for (std::uint32_t i = 0; i < state_->requests->size(); ++i) {
    Request& r = state_->requests->at(i);
    if (r.is_call() && r.call.cookie == cookie) r.forgotten = true;
  }
}

void Node::abandon_call(std::uint64_t cookie, std::string_view label, std::uint32_t newest_client, Nanoseconds now) {
  abandon::begin(*state_, cookie, label, newest_client, now);
  abandon::on_timer(*state_, now);  // without grace: at once
  settle(*state_, now);
}

std::optional<BufferId> Node::reserve_buffer(std::uint64_t bytes, BufferFor use) {
  return mailbox::reserve_outgoing(*state_, bytes, use);
}

void Node::release_buffer(BufferId buffer) {
  state_->buffers->release(buffer);
  state_->again |= std::exchange(state_->buffers_wanted, false);
}

Admission Node::send_message(NodeId to, std::uint64_t tag, PayloadRange payload, Nanoseconds now) {
  const Admission a = mailbox::send(*state_, to, tag, payload, now);
  settle(*state_, now);
  return a;
}

Admission Node::receive_message(std::optional<std::uint64_t> tag, std::uint64_t cookie, Nanoseconds now) {
  const Admission a = mailbox::receive(*state_, tag, cookie);
  settle(*state_, now);
  return a;
}

bool Node::forget_receive(std::uint64_t cookie) { return mailbox::forget_receive(*state_, cookie); }

void Node::set_path(NodeId peer, const PeerPath& path) { peers::set_path(*state_, peer, path); }

bool Node::on_datagram(std::span<const std::byte> datagram, Nanoseconds now) {
  const std::optional<Frame> frame = decode_frame(datagram);
  return on_frame(*state_, frame ? &*frame : nullptr, now);
}

bool Node::on_datagram(std::span<const std::byte> head, std::span<const std::byte> payload, Nanoseconds now) {
  std::optional<Frame> frame = decode_frame_head(head, payload.size());
  if (frame) frame->payload = payload;
  return on_frame(*state_, frame ? &*frame : nullptr, now);
}

PayloadRange Node::place_of(std::span<const std::byte> head, std::size_t payload_bytes) const {
  const std::optional<Frame> frame = decode_frame_head(head, payload_bytes);
  const ReliableChannel* channel = frame && is_ours(*state_, *frame) ? peers::find(*state_, frame->from) : nullptr;
  return channel != nullptr ? channel->place_of(*frame) : PayloadRange{};
}

void Node::on_timer(Nanoseconds now) {
  NodeState& s = *state_;
  if (s.nic->enabled()) run_nic(s, now);
  s.ready.wake(now);
  for (std::uint32_t i = s.ready.next_ready(0); i != ReadyTable::kNone; i = s.ready.next_ready(i + 1)) {
    const Peer& p = s.peers[i];
    if (!p.writable || p.channel->next_deadline() > now) continue;
    p.channel->on_timer(now);
    drain(s, p.node, now);
  }
  presence::on_timer(s, now);
  operations::on_request_timer(s, now);
  abandon::on_timer(s, now);
  settle(s, now);
}

void Node::on_path_reset(NodeId peer, Nanoseconds now) {
  if (ReliableChannel* c = peer < state_->settings.nodes ? peers::find(*state_, peer) : nullptr) c->on_path_reset(now);
  presence::on_reset(*state_, peer, now);
  settle(*state_, now);
}

void Node::on_path_refused(NodeId peer, Nanoseconds now) {
  presence::on_refused(*state_, peer, now);
  settle(*state_, now);
}

void Node::set_writable(NodeId peer, bool writable) {
  if (Peer* p = peers::find_peer(*state_, peer)) p->writable = writable;
}

bool Node::may_have_event() const {
  const NodeState& s = *state_;
  return s.copy_pending || s.works > 0 || s.place_buffer != kNoBuffer || s.requests->has_answer() ||
         s.buffers->has_freed() || s.peer_events;
}

// An event is large, and most of those that are there need little of it.
bool Node::poll_event(Event& out) {
  NodeState& s = *state_;
  if (s.place_buffer != kNoBuffer) {  // before anything is copied there
    out.kind = Event::Kind::kPlace;
    out.cookie = s.place_cookie, out.range = {s.place_buffer, 0, s.buffers->bytes(s.place_buffer)};
    s.place_buffer = kNoBuffer;
    return true;
  }
  if (s.copy_pending) {
    s.copy_pending = false;
    out.kind = Event::Kind::kCopy;
    out.bytes = s.copy_bytes, out.range = s.copy_range;
    return true;
  }
  if (local_data::poll_work(s, out.work)) {
    out.kind = Event::Kind::kWork;
    return true;
  }
  if (poll_answer(s, out)) return true;
  if (s.buffers->poll_freed(out.range.buffer)) {
    s.again |= std::exchange(s.buffers_wanted, false);
    out.kind = Event::Kind::kBufferFree;
    return true;
  }
  return peers::poll_event(s, out);
}

bool Node::poll_transmit(Nanoseconds now, std::span<std::byte> scratch, Transmit& out) {
  NodeState& s = *state_;
  settle(s, now);
  if (has_work()) return false;  // frames may carry its results
  s.ready.wake(now);
  if (s.ready.next_ready(0) == ReadyTable::kNone) return false;
  const std::uint32_t first = s.next_to_transmit;
  return transmit_to(s, {first, s.peers_used}, now, scratch, out) || transmit_to(s, {0, first}, now, scratch, out);
}

}  // namespace fibocast
