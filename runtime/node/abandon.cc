#include "runtime/node/abandon.h"

#include <algorithm>

#include "runtime/node/operations.h"
#include "runtime/node/slots.h"

namespace fibocast::abandon {

namespace {

void end_vacancy(NodeState& state, Request& r) {
  r.vacant = false;
  --state.vacancies;
}

void drop_payload(NodeState& state, Request& r) {
  if (r.call.payload.buffer != kNoBuffer) state.buffers->release(r.call.payload.buffer);
  r.call.payload = {};
}

void release(NodeState& state, std::uint32_t request) {
  Request& r = state.requests->at(request);
  drop_payload(state, r);
  if (r.done.payload.buffer != kNoBuffer) state.buffers->release(r.done.payload.buffer);
  state.requests->release(request);
}

bool is_same_operation(const Call& a, const Call& b) {
  return a.operation == b.operation && a.root == b.root && a.choice == b.choice && a.type == b.type && a.op == b.op &&
         a.total_bytes == b.total_bytes;
}

// A participant that numbers its calls may also get the answer that its former self missed; anybody else only waits.
bool fits(const NodeState& state, const Request& place, std::uint32_t group, const Call& call) {
  if (!place.vacant || place.group != group || !is_same_operation(place.call, call)) return false;
  // Of several participants, one that was here before this one died is somebody else; and so is one that brings what
  // this one did not.
  const bool brings = call.payload.buffer != kNoBuffer;
  if (state.groups[group].participants > 1 && (call.client <= place.call.client || brings != place.brought_payload))
    return false;
  if (call.generation) return place.done.generation == *call.generation;
  return place.state != Request::State::kDone;
}

// Of several in the same generation the one that is lost first.
bool is_needed_earlier(const Request& a, const Request& b) {
  if (a.done.generation != b.done.generation) return a.done.generation < b.done.generation;
  return a.vacant_until < b.vacant_until;
}

std::uint32_t find_place(NodeState& state, std::uint32_t group, const Call& call) {
  std::uint32_t found = kNoRequest;
  for (std::uint32_t i = 0; i < state.requests->size(); ++i) {
    const Request& place = state.requests->at(i);
    if (!fits(state, place, group, call)) continue;
    if (found == kNoRequest || is_needed_earlier(place, state.requests->at(found))) found = i;
  }
  return found;
}

// The earliest deadline of the participants counts (PROTOCOL 6).
void hurry(NodeState& state, Request& place, Nanoseconds deadline) {
  place.call.deadline = std::min(place.call.deadline, deadline);
  if (place.state == Request::State::kHeld) {
    state.request_timer = std::min(state.request_timer, place.call.deadline);
    state.again = true;  // what would have ended it while it was vacant ends it now
  }
  if (place.state != Request::State::kWaiting) return;
  Slot& s = state.slots[slots::index_of(state, place.group, place.done.generation)];
  slots::set_due(state, s, place.call.deadline);
}

// As many callers as the node has participants wait for this generation all the same.
bool others_wait(NodeState& state, std::uint32_t slot) {
  std::uint32_t waiting = 0;
  for (std::uint32_t i = state.slots[slot].first_call; i != kNoRequest; i = state.requests->at(i).next)
    waiting += !state.requests->at(i).forgotten;
  return waiting >= slots::group(state, slot).participants;
}

// It was not counted yet: when its generation opens, this participant passes, and that ends it.
void pass_later(NodeState& state, std::uint32_t request) {
  Request& r = state.requests->at(request);
  r.passes = r.died = true;
  ++state.counters.callers_lost;
  r.call.generation = r.done.generation;
  drop_payload(state, r);
  state.again = true;
}

void expire(NodeState& state, std::uint32_t request, Nanoseconds now) {
  Request& r = state.requests->at(request);
  const bool numbered = r.call.generation.has_value();
  end_vacancy(state, r);
  switch (r.state) {
    case Request::State::kScheduled:
      if (!numbered) return release(state, request);
      pass_later(state, request);
      return operations::place_call(state, request, now);
    case Request::State::kHeld:
      if (numbered) return pass_later(state, request);
      --state.groups[r.group].held;
      return release(state, request);
    case Request::State::kWaiting: {
      const std::uint32_t slot = slots::index_of(state, r.group, r.done.generation);
      if (others_wait(state, slot)) return;
      r.died = true;
      ++state.counters.callers_lost;
      lose(state, slot, now);
      return;
    }
    default:
      if (r.kept) release(state, request);
  }
}

}  // namespace

void begin(NodeState& state, std::uint64_t cookie, std::string_view label, std::uint32_t newest_client,
           Nanoseconds now) {
  for (std::uint32_t i = 0; i < state.requests->size(); ++i) {
    Request& r = state.requests->at(i);
    if (!r.is_call() || r.call.cookie != cookie || r.passes || r.forgotten) continue;
    r.forgotten = r.vacant = true;
    ++state.vacancies;
    r.call.client = newest_client;
    r.vacant_until = now + state.settings.client_grace;
    state.vacancy_timer = std::min(state.vacancy_timer, r.vacant_until);
    if (r.state == Request::State::kScheduled || r.state == Request::State::kHeld)
      r.done.generation = r.call.generation.value_or(r.done.generation);
    state.groups[r.group].death = r.done.generation;
    state.groups[r.group].death_label.set(label);
  }
}

bool take_place(NodeState& state, std::uint32_t group, const Call& call) {
  const std::uint32_t found = state.vacancies > 0 ? find_place(state, group, call) : kNoRequest;
  if (found == kNoRequest) return false;
  Request& place = state.requests->at(found);
  end_vacancy(state, place);
  ++state.counters.callers_back;
  place.forgotten = false;
  place.call.cookie = place.done.cookie = call.cookie;
  hurry(state, place, call.deadline);
  if (call.payload.buffer != kNoBuffer) state.buffers->release(call.payload.buffer);
  if (!place.kept) return true;
  place.kept = false;
  place.state = Request::State::kWaiting;
  state.requests->answer(found);
  return true;
}

bool keep_answer(NodeState& state, std::uint32_t request) {
  Request& r = state.requests->at(request);
  if (!r.vacant) return false;
  const bool kept = r.call.generation && !r.passes && r.done.verdict != Verdict::kCancelled;
  if (kept)
    r.kept = true;
  else
    end_vacancy(state, r);
  return kept;
}

std::optional<Generation> generation_to_take(NodeState& state, std::uint32_t group) {
  std::optional<Generation> lowest;
  for (std::uint32_t i = 0; state.vacancies > 0 && i < state.requests->size(); ++i) {
    const Request& r = state.requests->at(i);
    const bool has_generation = r.state != Request::State::kScheduled || r.call.generation;
    if (r.vacant && r.group == group && has_generation)
      lowest = std::min(lowest.value_or(r.done.generation), r.done.generation);
  }
  return lowest;
}

void forget_group(NodeState& state, std::uint32_t group) {
  for (std::uint32_t i = 0; state.vacancies > 0 && i < state.requests->size(); ++i) {
    Request& r = state.requests->at(i);
    if (!r.vacant || r.group != group) continue;
    end_vacancy(state, r);
    if (r.kept) release(state, i);
  }
}

void on_timer(NodeState& state, Nanoseconds now) {
  if (now < state.vacancy_timer) return;
  state.vacancy_timer = kNever;
  for (std::uint32_t i = 0; i < state.requests->size(); ++i) {
    Request& r = state.requests->at(i);
    if (!r.vacant) continue;
    if (r.vacant_until <= now)
      expire(state, i, now);
    else
      state.vacancy_timer = std::min(state.vacancy_timer, r.vacant_until);
  }
}

void lose(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (s.state != Slot::State::kOpen) return;
  if (s.lost == kNoRank) {  // else a node is lost, and why is known by its rank
    s.lost = slots::group(state, slot).rank;
    if (s.reason == Verdict::kPending) s.reason = Verdict::kCallerLost;
  }
  if (!s.frozen) s.arrived_when_frozen = s.called;
  s.frozen = true;
  slots::set_due(state, s, now);
}

void lose_again(NodeState& state, std::uint32_t slot) {
  for (std::uint32_t i = state.slots[slot].first_call; i != kNoRequest; i = state.requests->at(i).next)
    if (state.requests->at(i).died) lose(state, slot, 0);
}

ShortText label_of(const GroupState& g, Generation generation) {
  return g.death == generation ? g.death_label : ShortText{};
}

void hear(GroupState& g, const PeerMessage& m) {
  if (m.verdict == Verdict::kCallerLost) g.death = m.generation, g.death_label = m.label;
}

}  // namespace fibocast::abandon
