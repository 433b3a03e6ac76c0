// What a slot sends.
#include "runtime/node/transfers.h"

#include <algorithm>

#include "collectives/check.h"
#include "runtime/node/flight_log.h"
#include "runtime/node/greetings.h"
#include "runtime/node/local_data.h"
#include "runtime/node/operations.h"
#include "runtime/node/peers.h"
#include "runtime/node/presence.h"
#include "runtime/node/slots.h"
#include "runtime/node/streams.h"
#include "runtime/node/ticket.h"
#include "runtime/node/window.h"

namespace fibocast::transfers {

namespace {

bool through_nic(const NodeState& state, const Slot& s) { return state.nic->enabled() && s.charged; }

// What the NIC held back was prepared before it waited: the rank has gone on since, with what came in.
bool is_prepared(NodeState& state, std::uint32_t slot, std::uint32_t index, const Transfer& t) {
  return t.carries == Carries::kToken || through_nic(state, state.slots[slot]) ||
         local_data::prepare_send(state, slot, index);
}

bool transmit_bulk(NodeState& state, std::uint32_t slot, std::uint32_t index, std::uint32_t repetition,
                   Nanoseconds now) {
  const Transfer t = state.engine->schedule(slot).transfers[index];
  TransferState& transfer = slots::transfer_states(state, slot)[index];
  if (!streams::announce_ready(state, slot, index, now)) return false;
  if (!is_prepared(state, slot, index, t)) return false;
  const Slot& s = state.slots[slot];
  const std::uint64_t before = t.carries == Carries::kPayload ? std::uint64_t{repetition} * s.segment_bytes : 0;
  transfer.progress = std::max(transfer.progress, before + slots::bytes_of(state, slot, t, repetition));
  streams::extend(state, slot, index, now);
  return true;
}

bool transmit_small(NodeState& state, std::uint32_t slot, std::uint32_t index, std::uint32_t repetition,
                    Nanoseconds now) {
  const Transfer t = state.engine->schedule(slot).transfers[index];
  Slot& s = state.slots[slot];
  const std::uint32_t group = slots::group_of(state, slot);
  const GroupState& g = state.groups[group];
  PeerMessage m = operations::message_about(state, slot, PeerMessageType::kTransfer);
  m.stage = t.stage, m.repetition = repetition;
  m.completed = slots::tells_window(g, s) ? std::min(s.least, g.base) : window::subtree_base(state, group);
  m.straggler = s.last_arrival.straggler();
  const NodeId to = node_of(state, slot, t.peer);
  // What waits for a peer that is not there must not reach it after the generation has ended without it.
  if (!peers::has_room(state, to, now) || !greetings::is_over(state, to, group)) return false;
  if (!is_prepared(state, slot, index, t)) return false;
  const std::uint64_t bytes = slots::bytes_of(state, slot, t, repetition);
  const std::uint64_t offset = slots::transfer_states(state, slot)[index].offset;
  check(peers::send(state, to, m, true, now, bytes > 0 ? PayloadRange{s.buffer, offset, bytes} : PayloadRange{}));
  return true;
}

}  // namespace

NodeId node_of(const NodeState& state, std::uint32_t slot, Rank virtual_rank) {
  const GroupState& g = state.groups[slots::group_of(state, slot)];
  return groups::node_of(g, groups::real_rank(g, virtual_rank, state.slots[slot].root));
}

bool transmit(NodeState& state, std::uint32_t slot, std::uint32_t index, std::uint32_t repetition, Nanoseconds now) {
  Slot& s = state.slots[slot];
  const Transfer t = state.engine->schedule(slot).transfers[index];
  const bool sent = slots::is_bulk(state, slot, t) ? transmit_bulk(state, slot, index, repetition, now)
                                                   : transmit_small(state, slot, index, repetition, now);
  if (sent) flight_log::transfer(state, slot, FlightEvent::Kind::kSend, index, repetition, now);
  if (sent && s.first_send_at == 0) s.first_send_at = now;
  return sent;
}

// On the clock of the emulated machine the plan's s is one send of the NIC.
bool waits_for_model_time(NodeState& state, std::uint32_t slot, Nanoseconds not_before, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (not_before == 0 || !through_nic(state, s)) return false;
  const auto unit = static_cast<Nanoseconds>(slots::group(state, slot).plan.distribution.s);
  if (unit <= 0) return false;  // a tree that needs no costs, defined by a peer that gives none
  const Nanoseconds send = state.settings.nic.send;
  const Nanoseconds start = s.arrived_at + not_before / unit * send + not_before % unit * send / unit;
  if (now < start) slots::wake_at(state, s, start);
  return now < start;
}

namespace {

// False: no room just now, the transfer stays the engine's next.
bool dispatch(NodeState& state, std::uint32_t slot, const Engine::Send& send, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (!through_nic(state, s)) return transmit(state, slot, send.index, send.repetition, now);
  if (waits_for_model_time(state, slot, send.not_before, now)) return false;
  const bool announced =
      !slots::is_bulk(state, slot, send.transfer) || streams::announce_ready(state, slot, send.index, now);
  if (state.nic->full() || !announced) {
    state.again = true;
    return false;
  }
  if (!local_data::prepare_send(state, slot, send.index)) return false;
  const std::uint64_t bytes = slots::bytes_of(state, slot, send.transfer, send.repetition);
  const std::uint64_t ticket = pack({slot, s.generation, send.index, send.repetition});
  const Nanoseconds begins = state.nic->request_send(ticket, bytes, now);
  ++s.nic_sends;
  if (s.first_send_at == 0) s.first_send_at = begins;
  return true;
}

}  // namespace

bool set_shape(NodeState& state, std::uint32_t slot, const PeerMessage& m) {
  Slot& s = state.slots[slot];
  const GroupState& g = state.groups[slots::group_of(state, slot)];
  presence::end_waiting(state, slot);  // of whom the schedule that was a guess receives from
  s.total_bytes = m.total_bytes;
  s.segment_bytes = m.total_bytes > state.limits.eager_bytes ? m.segment_bytes : 0;
  s.choice = m.choice, s.type = m.element, s.op = m.op;
  if (s.choice.algorithm == Algorithm::kPlanned)
    s.choice = planned_choice(groups::plan_of(state, g), s.operation, s.total_bytes);
  const OperationShape shape = slots::shape_of(state, slot);
  if (shape.segments() > kMaxRepetitions || !is_possible(shape)) return false;
  if (!state.engine->open(slot, groups::plan_of(state, g), shape, groups::virtual_rank(g, g.rank, s.root)))
    return false;
  local_data::lay_out_slot(state, slot);
  return s.layout.bytes <= state.buffers->share(BufferUse::kIncoming);
}

void note_activation(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (s.activated_at != 0 || !state.engine->activated(slot)) return;
  const bool called = is_push(s.operation) || state.engine->arrived(slot);
  const bool known = s.shape_known && (!slots::is_source(state, slot) || state.engine->arrived(slot));
  if (!called || !known) return;
  if (waits_for_model_time(state, slot, state.engine->latest_not_before(slot), now)) return;
  s.activated_at = now;
  flight_log::note(state, slot, FlightEvent::Kind::kActivated, now);
}

void send_what_is_ready(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  if (!local_data::has_memory(state, slot)) return streams::postpone_receives(state, slot, now);
  if (!local_data::place_input(state, slot)) return;
  note_activation(state, slot, now);
  streams::grant_receives(state, slot, now);
  streams::announce_sends(state, slot, now);
  Engine::Send send;
  do {
    if (!local_data::combine(state, slot)) return;
    while (state.engine->next_send(slot, send)) {
      if (!dispatch(state, slot, send, now)) return;
      state.engine->commit_send(slot, send);
    }
  } while (state.engine->next_combine(slot, send));
}

namespace {

// They would wait for ever for what does not come through us.
void owe_failure(NodeState& state, std::uint32_t slot) {
  Slot& s = state.slots[slot];
  if (!is_push(s.operation) || s.verdict == Verdict::kOk || s.state != Slot::State::kDone) return;
  const RankSchedule schedule = state.engine->schedule(slot);
  if (schedule.stages.empty()) return;  // nothing came that would have told who they are
  for (const Transfer& t : schedule.sends(schedule.stages[0])) {
    TransferState& transfer = slots::transfer_states(state, slot)[&t - schedule.transfers.data()];
    transfer.failure_owed = transfer.stream != TransferState::Stream::kDone;
  }
  s.owes_failure = true;
}

}  // namespace

void tell_failure(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (!s.owes_failure) return;
  s.owes_failure = false;
  PeerMessage m = operations::message_about(state, slot, PeerMessageType::kVerdict);
  m.verdict = s.verdict, m.ranks = s.ranks;
  const RankSchedule schedule = state.engine->schedule(slot);
  for (const Transfer& t : schedule.sends(schedule.stages[0])) {
    TransferState& transfer = slots::transfer_states(state, slot)[&t - schedule.transfers.data()];
    const NodeId to = node_of(state, slot, t.peer);
    // Who is not connected is told when it is (greetings.h).
    transfer.failure_owed =
        transfer.failure_owed && peers::connected(state, to) && !peers::send(state, to, m, true, now);
    s.owes_failure = s.owes_failure || transfer.failure_owed;
  }
}

void give_up_payload(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  owe_failure(state, slot);
  tell_failure(state, slot, now);
  streams::give_up_sends(state, slot, kNoNode, now);
  streams::give_up_receives(state, slot, now);
}

}  // namespace fibocast::transfers
