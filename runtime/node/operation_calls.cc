// Local calls: which generation a call belongs to, when it must wait, and how it is answered.
#include <algorithm>

#include "collectives/check.h"
#include "runtime/node/abandon.h"
#include "runtime/node/comparison.h"
#include "runtime/node/dormant.h"
#include "runtime/node/doubts.h"
#include "runtime/node/epochs.h"
#include "runtime/node/flight_log.h"
#include "runtime/node/joining.h"
#include "runtime/node/operations.h"
#include "runtime/node/presence.h"
#include "runtime/node/replan.h"
#include "runtime/node/slots.h"
#include "runtime/node/stragglers.h"
#include "runtime/node/transfers.h"
#include "runtime/node/window_count.h"

namespace fibocast::operations {

namespace {

OperationShape asked(const NodeState& state, const GroupState& g, const Call& c, std::uint64_t bytes) {
  OperationShape shape{c.operation, groups::participating(g), bytes, 0};
  shape.choice = c.choice, shape.type = c.type, shape.op = c.op;
  if (shape.choice.algorithm == Algorithm::kPlanned)
    shape.choice = planned_choice(groups::plan_of(state, g), c.operation, bytes);
  shape.ranks = groups::ranks_of(g, shape.choice);
  return shape;
}

// This rank's share of the vector is what it brings.
bool brings_share(const NodeState& state, const GroupState& g, const Call& c) {
  const OperationShape shape = asked(state, g, c, c.total_bytes);
  return is_possible(shape) && input_bytes(shape, groups::virtual_rank(g, g.rank, c.root)) == c.payload.length;
}

// The size that all members must agree on, from what this one brings or says; nothing if that is not whole blocks, or
// not the rank's share.
std::optional<std::uint64_t> size_of_call(const NodeState& state, const GroupState& g, const Call& c) {
  const bool brings_all = c.operation == Operation::kScatter || c.operation == Operation::kAlltoall;
  if (c.operation == Operation::kConquer)
    return brings_share(state, g, c) ? std::optional(c.total_bytes) : std::nullopt;
  if (!brings_all) return c.payload.length;
  if (c.payload.length % groups::participating(g) != 0) return {};
  return c.payload.length / groups::participating(g);
}

bool brings_data(const GroupState& g, const Call& c) {
  return is_push(c.operation) ? c.root == g.rank : c.operation != Operation::kBarrier;
}

// The size and algorithm are known: those who are handed something out learn them from the first message.
bool knows_shape(const GroupState& g, const Call& c) { return !is_push(c.operation) || c.root == g.rank; }

Admission admissible(const NodeState& state, const GroupState& g, const Call& c) {
  if (g.rank == kNoRank) return Admission::kNotMember;
  if (c.root >= groups::defined_participants(g) || g.rank >= groups::defined_participants(g))
    return Admission::kBadRank;
  // Its sizes are looked at again when it is in.
  if (!groups::is_live(g, g.rank)) return Admission::kTaken;
  if (c.payload.buffer != kNoBuffer && !brings_data(g, c)) return Admission::kNotRoot;
  const auto bytes = size_of_call(state, g, c);
  if (!bytes) return Admission::kBadOperation;
  const OperationShape shape = asked(state, g, c, *bytes);
  if (!is_possible(shape)) return Admission::kBadOperation;
  const Rank ranks = participating_ranks(shape);
  if (g.routers > 0 && ranks != groups::participating(g))
    return Admission::kBadOperation;  // a flood among n needs n - 1 routers
  const bool shared = c.operation == Operation::kBarrier || c.operation == Operation::kMulticast;
  if (!shared && g.participants != 1) return Admission::kManyParticipants;
  if (g.rank >= ranks && !g.shrunk) return Admission::kBadRank;  // a router of a flood
  return state.buffers->can_ever_fit(c.payload.length) ? Admission::kTaken : Admission::kTooLarge;
}

PeerMessage opening(const NodeState& state, const GroupState& g, const Call& c, Generation generation) {
  const OperationShape shape = asked(state, g, c, size_of_call(state, g, c).value_or(0));
  PeerMessage m;
  m.generation = generation, m.operation = c.operation, m.root = c.root, m.charged = c.charged;
  m.total_bytes = shape.total_bytes;
  if (knows_shape(g, c)) m.choice = shape.choice, m.element = c.type, m.op = c.op;
  const bool distributes = c.operation == Operation::kMulticast || c.operation == Operation::kAllreduce;
  m.segment_bytes =
      distributes && m.total_bytes > state.limits.eager_bytes ? groups::plan_of(state, g).segment_bytes : 0;
  return m;
}

// Before every member is done with the generation W earlier, this one may not begin (PROTOCOL 7). Precondition: it is
// not over.
bool window_lets_in(const NodeState& state, const GroupState& g, Generation generation) {
  const Generation open = state.limits.open_generations;
  return generation - g.base < open && generation - g.global_base < open && !replan::holds(g, generation);
}

// Participants whose calls the window kept until their deadlines stay in the table. Who would only join them, or passes
// too, waits outside, once they are half of it: the other half is for calls that move the window.
bool passes_crowd(const NodeState& state) {
  std::uint32_t passing = 0;
  for (std::uint32_t i = 0; i < state.requests->size(); ++i) {
    const Request& r = state.requests->at(i);
    passing += r.state == Request::State::kHeld && r.passes;
  }
  return 2 * passing >= state.requests->size();
}

bool is_crowded_out(const NodeState& state, std::uint32_t group, const Call& c) {
  const GroupState& g = state.groups[group];
  const Generation first = std::max(g.base, g.global_base);
  if (!c.generation || *c.generation < first || window_lets_in(state, g, *c.generation)) return false;
  const bool is_let_go = !epochs::runs(g) && presence::lost_member(state, group) != kNoRank;
  return !is_let_go && passes_crowd(state);
}

// kNoRequest: there is no room for it now.
std::uint32_t add_request(NodeState& state, std::uint32_t group, const Call& c, Nanoseconds now) {
  if (is_crowded_out(state, group, c)) {
    state.groups[group].crowded = true;
    window_count::look_after(state, group, now);
    return kNoRequest;
  }
  const std::uint32_t request = state.requests->add(Request::State::kScheduled);
  if (request == kNoRequest) return kNoRequest;
  state.requests->at(request).call = c;
  state.requests->at(request).group = group;
  state.requests->at(request).brought_payload = c.payload.buffer != kNoBuffer;
  return request;
}

// Who numbers its calls by a group that was removed does not mean the next one of its name.
std::uint32_t group_meant(NodeState& state, const Call& c) {
  const std::uint32_t group = dormant::find_or_wake(state, c.group);
  if (group == kNoIndex || c.definition == 0) return group;
  return state.groups[group].definition == c.definition ? group : kNoIndex;
}

void drop_payload(NodeState& state, Request& r) {
  if (r.call.payload.buffer != kNoBuffer) state.buffers->release(r.call.payload.buffer);
  r.call.payload = {};
}

// The first of the source's participants that brings a payload is the sender; if none does, it is empty.
bool sends_payload(const NodeState& state, std::uint32_t slot, const Request& r) {
  if (!slots::is_source(state, slot) || state.slots[slot].called) return false;
  const bool last = state.slots[slot].arrivals == state.groups[slots::group_of(state, slot)].participants;
  return r.call.payload.buffer != kNoBuffer || (last && !state.slots[slot].passed);
}

// What the caller brings becomes the slot's: a multicast's payload is sent from where it lies. Who joins what is open
// keeps it too, as it may have to join the next generation with it.
bool take_payload(NodeState& state, std::uint32_t slot, Request& r, Nanoseconds now) {
  Slot& s = state.slots[slot];
  const GroupState& g = state.groups[slots::group_of(state, slot)];
  if (!s.shape_known && knows_shape(g, r.call)) {
    if (!transfers::set_shape(state, slot, opening(state, g, r.call, s.generation))) {
      conclude(state, slot, Verdict::kRefused, {}, now);
      return false;
    }
    s.shape_known = true;
    flight_log::opened(state, slot, now);
  }
  const BufferId brought = r.call.payload.buffer;
  (s.operation == Operation::kMulticast ? s.buffer : s.input) = brought;
  if (r.call.generation)
    r.call.payload = {};
  else if (brought != kNoBuffer)
    state.buffers->add_reference(brought);
  return true;
}

void arrive(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  s.arrived_at = now;
  s.called = true;
  stragglers::on_call(state, slot, now);
  flight_log::note(state, slot, FlightEvent::Kind::kCall, now);
  presence::begin_waiting(state, slot, now);
  comparison::begin(state, slot, now);
  pump(state, slot, now);
}

void count_call(NodeState& state, std::uint32_t slot, std::uint32_t request, Nanoseconds now) {
  Slot& s = state.slots[slot];
  Request& r = state.requests->at(request);
  ++s.arrivals;
  if (s.state == Slot::State::kDone) return answer_call(state, request, slot), close_if_through(state, slot, now);
  r.state = Request::State::kWaiting;
  r.next = s.first_call;
  s.first_call = request;
  if (s.lost == kNoRank) s.lost = presence::lost_member(state, slots::group_of(state, slot));
  s.lost == kNoRank ? doubts::look_at_call(state, slot, r.call.deadline, now) : slots::set_due(state, s, now);
  if (slots::is_rooted(s.operation) && !groups::is_live(state.groups[slots::group_of(state, slot)], s.root)) {
    RankSet root;
    root.add(s.root);
    return conclude(state, slot, Verdict::kPeerLost, root, now);
  }
  const bool sender = sends_payload(state, slot, r);
  const bool all_here = s.arrivals == state.groups[slots::group_of(state, slot)].participants;
  const bool contributes = !is_push(s.operation) && s.operation != Operation::kBarrier && !s.called;
  if ((sender || contributes) && !take_payload(state, slot, r, now)) return;
  if (sender || (all_here && !slots::is_source(state, slot))) arrive(state, slot, now);
}

// A participant that was answered long ago lets its generation go by.
void pass(NodeState& state, std::uint32_t slot, std::uint32_t request, Nanoseconds now) {
  Slot& s = state.slots[slot];
  const Request& r = state.requests->at(request);
  s.passed = s.passed || r.brought_payload || !is_push(s.operation);
  const bool names_lost = r.done.verdict == Verdict::kPeerLost && !r.done.ranks.empty();
  if (s.lost == kNoRank && names_lost) s.lost = r.done.ranks.at(0);  // as its caller was told
  if (r.died) abandon::lose(state, slot, now);
  state.requests->release(request);
  const bool open = s.state == Slot::State::kOpen;
  if (open && !is_push(s.operation)) return slots::set_due(state, s, now);  // cannot be without us
  ++s.arrivals, ++s.delivered;
  if (open && slots::is_source(state, slot) && !s.called) slots::set_due(state, s, now);
  if (open) slots::set_due(state, s, now + state.settings.suspicion);  // nobody else may be left to ask how it ended
  close_if_through(state, slot, now);
}

// What the caller wants is not what others are already at. Where something is handed out, one caller says what.
bool differs(const Slot& s, const PeerMessage& wanted) {
  if (s.operation != wanted.operation || s.root != wanted.root) return true;
  if (!s.shape_known || is_push(s.operation)) return false;
  return s.choice != wanted.choice || s.type != wanted.element || s.op != wanted.op ||
         s.total_bytes != wanted.total_bytes;
}

// One that died is not through with its call: who takes its place makes it again, and must not count beside a pass.
bool may_end_uncounted(const Request& r) { return !r.passes && !r.vacant; }

// Nobody has heard of this call: to end it here tells nobody a lie. A participant that numbers its calls will be
// through with this one, and its node lets the generation go by.
void end_uncounted(NodeState& state, std::uint32_t request, Verdict verdict) {
  Request& r = state.requests->at(request);
  r.passes = r.call.generation.has_value();
  refuse_call(state, request, verdict);
}

// The group's epoch is being changed, and one whom all wait for is lost. The others have begun nothing, and can end
// nothing before it is back: what there is no room for is let go.
void end_in_change(NodeState& state, std::uint32_t request, Rank lost) {
  Request& r = state.requests->at(request);
  GroupState& g = state.groups[r.group];
  const bool was_passed = r.passes && r.state == Request::State::kHeld;
  const bool is_let_go = r.call.generation && !was_passed && passes_crowd(state);
  if (is_let_go) g.change.let_go = std::max(g.change.let_go, *r.call.generation + 1);
  if (r.done.ranks.empty()) r.done.verdict = Verdict::kPeerLost, r.done.ranks.add(lost);  // why it passes, as for all
  if (r.passes) return is_let_go ? state.requests->release(request) : hold(state, request);
  is_let_go ? refuse_call(state, request, Verdict::kPeerLost) : end_uncounted(state, request, Verdict::kPeerLost);
}

// With a member lost the operation could not succeed; and who lives and was told of the loss may not call any more, so
// that the window would never move. Barriers wait: all members must be told the same.
void wait_for_window(NodeState& state, std::uint32_t request, Nanoseconds now) {
  Request& r = state.requests->at(request);
  const Rank lost = presence::lost_member(state, r.group);
  if (lost != kNoRank && may_end_uncounted(r) && r.call.operation != Operation::kBarrier) {
    r.done.ranks.add(lost);
    return end_uncounted(state, request, Verdict::kPeerLost);
  }
  hold(state, request);
  window_count::look_after(state, r.group, now);
}

void mismatch(NodeState& state, std::uint32_t slot, std::uint32_t request, Nanoseconds now) {
  Slot& s = state.slots[slot];
  ++state.counters.mismatch;
  refuse_call(state, request, Verdict::kMismatch);
  if (s.state == Slot::State::kDone) {  // handed out already: this participant will not come for it
    ++s.arrivals, ++s.delivered;
    return close_if_through(state, slot, now);
  }
  s.reason = Verdict::kMismatch;
  slots::set_due(state, s, now);
}

}  // namespace

void refuse_call(NodeState& state, std::uint32_t request, Verdict verdict) {
  Request& r = state.requests->at(request);
  drop_payload(state, r);
  r.done.verdict = verdict;
  r.done.cookie = r.call.cookie;
  r.done.generation = r.call.generation.value_or(r.done.generation);  // also if it has not been looked at yet
  state.requests->answer(request);
}

void answer_call(NodeState& state, std::uint32_t request, std::uint32_t slot) {
  Slot& s = state.slots[slot];
  Request& r = state.requests->at(request);
  drop_payload(state, r);
  ++s.delivered;
  CallDone& d = r.done;
  d.cookie = r.call.cookie, d.verdict = s.verdict, d.generation = s.generation, d.ranks = s.ranks;
  d.arrived_at = s.arrived_at, d.activated_at = s.activated_at, d.first_send_at = s.first_send_at;
  d.lateness = s.lateness;
  d.straggler = stragglers::answer_of(s);
  const bool receives = s.operation != Operation::kMulticast || !slots::is_source(state, slot);
  if (s.verdict == Verdict::kOk && receives && s.layout.result_bytes > 0) {
    if (s.buffer != kNoBuffer) {
      state.buffers->add_reference(s.buffer);
      d.payload = PayloadRange{s.buffer, s.result, s.layout.result_bytes};
    } else {
      d.verdict = Verdict::kStale;  // all who were here had it, and it is gone
    }
  }
  state.requests->answer(request);
}

void hold(NodeState& state, std::uint32_t request) {
  Request& r = state.requests->at(request);
  r.state = Request::State::kHeld;
  ++state.groups[r.group].held;
  if (may_end_uncounted(r)) state.request_timer = std::min(state.request_timer, r.call.deadline);
}

void place_call(NodeState& state, std::uint32_t request, Nanoseconds now) {
  Request& r = state.requests->at(request);
  GroupState& g = state.groups[r.group];
  r.done.generation = r.call.generation.value_or(g.base);
  if (const Verdict refused = epochs::refuses(state, r.group, r.done.ranks); refused != Verdict::kPending)
    return r.passes ? state.requests->release(request) : refuse_call(state, request, refused);
  if (epochs::holds_calls(state, r.group, now)) {
    const Rank lost = presence::lost_member(state, r.group);
    return lost == kNoRank || r.vacant ? hold(state, request) : end_in_change(state, request, lost);
  }
  const Generation generation = r.call.generation ? *r.call.generation : joining::first_generation(state, r.group);
  r.done.generation = generation;
  const Generation first = std::max(g.base, g.global_base);
  const std::uint32_t recorded = recorded_slot(state, r.group, generation);
  if (r.passes && recorded != kNoIndex) return pass(state, recorded, request, now);
  const std::uint32_t place = slots::index_of(state, r.group, generation);
  // Perhaps behind the window: others have asked about it, and its verdict is on its way.
  const bool is_open = slots::holds(state.slots[place], generation) && recorded == kNoIndex;
  if (r.passes && generation < first && !is_open) return state.requests->release(request);
  if (recorded != kNoIndex && (generation < first || !joining::takes_part(state, r.group, generation))) {
    answer_call(state, request, recorded);
    return close_if_through(state, recorded, now);
  }
  if (generation < first && !is_open) return refuse_call(state, request, Verdict::kStale);
  // One that passes only waits for its slot.
  if (generation >= first && !window_lets_in(state, g, generation) && !(r.passes && is_open))
    return wait_for_window(state, request, now);
  const PeerMessage wanted = opening(state, g, r.call, generation);
  const std::uint32_t slot = open_slot(state, r.group, wanted, now);
  if (slot == kNoIndex && r.passes) return state.requests->release(request);
  if (slot == kNoIndex) return refuse_call(state, request, Verdict::kRefused);
  if (r.passes) return pass(state, slot, request, now);
  const Slot& s = state.slots[slot];
  if (differs(s, wanted)) return mismatch(state, slot, request, now);
  count_call(state, slot, request, now);
}

Admission call(NodeState& state, const Call& c, Nanoseconds now) {
  const std::uint32_t group = group_meant(state, c);
  if (group == kNoIndex) return dormant::why_none(state, c.group);
  const Admission admission = admissible(state, state.groups[group], c);
  if (admission != Admission::kTaken) return admission;
  if (abandon::take_place(state, group, c)) return Admission::kTaken;
  const std::uint32_t request = add_request(state, group, c, now);
  if (request == kNoRequest) return Admission::kWouldBlock;
  if (c.not_before > now)
    state.request_timer = std::min(state.request_timer, c.not_before);
  else
    place_call(state, request, now);
  return Admission::kTaken;
}

Admission pass(NodeState& state, const Call& c, Nanoseconds now) {
  const std::uint32_t group = group_meant(state, c);
  if (group == kNoIndex) return dormant::why_none(state, c.group);
  const std::uint32_t request = add_request(state, group, c, now);
  if (request == kNoRequest) return Admission::kWouldBlock;
  Request& r = state.requests->at(request);
  r.call.payload = {};
  r.passes = true;
  r.brought_payload = is_push(c.operation) && c.root == state.groups[group].rank;
  place_call(state, request, now);
  return Admission::kTaken;
}

void on_request_timer(NodeState& state, Nanoseconds now) {
  if (now < state.request_timer) return;
  state.request_timer = kNever;
  for (std::uint32_t i = 0; i < state.requests->size(); ++i) {
    Request& r = state.requests->at(i);
    if (r.state == Request::State::kScheduled && r.call.not_before <= now) {
      place_call(state, i, now);
    } else if (r.state == Request::State::kHeld && may_end_uncounted(r) && r.call.deadline <= now) {
      --state.groups[r.group].held;
      end_uncounted(state, i, Verdict::kDeadlineExceeded);  // who holds up the window is not known
    }
    if (r.state == Request::State::kScheduled) state.request_timer = std::min(state.request_timer, r.call.not_before);
    if (r.state == Request::State::kHeld && may_end_uncounted(r))
      state.request_timer = std::min(state.request_timer, r.call.deadline);
  }
}

}  // namespace fibocast::operations
