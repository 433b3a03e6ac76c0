// What the host may ask a node: nothing changes by it.
#include <algorithm>
#include <cstdio>

#include "runtime/node/flight_log.h"
#include "runtime/node/groups.h"
#include "runtime/node/node.h"
#include "runtime/node/node_state.h"
#include "runtime/node/peers.h"
#include "runtime/node/presence.h"
#include "runtime/node/slots.h"
#include "runtime/node/stragglers.h"
#include "runtime/node/transfers.h"

namespace fibocast {

std::uint32_t Node::connected_peers() const {
  std::uint32_t n = 0;
  for (const Peer& p : state_->peers.first(state_->peers_used)) n += peers::connected(*state_, p.node);
  return n;
}

namespace {

// Between a stream's announcement and its grant the channel has nothing to do; what is queued has not reached it.
bool has_all(NodeState& state, const Peer& p) {
  const auto owners = peers::outgoing_owners(state, p.node);
  return p.channel->is_settled() && p.applications.first_outgoing == kNoIndex && p.hosts.first_outgoing == kNoIndex &&
         std::ranges::all_of(owners, [](const StreamOwner& o) { return o.kind == StreamOwner::Kind::kNone; });
}

}  // namespace

bool Node::is_settled() const {
  return std::ranges::all_of(state_->peers.first(state_->peers_used), [this](const Peer& p) {
    return !peers::connected(*state_, p.node) || presence::is_lost(*state_, p.node) || has_all(*state_, p);
  });
}

Belief Node::peer_belief(NodeId peer) const {
  const bool watched = state_->detector != nullptr && peer != state_->settings.self;
  return watched ? state_->detector->belief(peer) : Belief::kUnknown;
}

ChannelState Node::peer_state(NodeId peer) const {
  const ReliableChannel* c = peers::find(*state_, peer);
  return c == nullptr ? ChannelState::kClosed : c->state();
}

const ChannelCounters* Node::peer_counters(NodeId peer) const {
  const ReliableChannel* c = peers::find(*state_, peer);
  return c == nullptr ? nullptr : &c->counters();
}

Nanoseconds Node::peer_round_trip(NodeId peer) const {
  const ReliableChannel* c = peers::find(*state_, peer);
  return c == nullptr ? 0 : c->round_trip();
}

const NodeCounters& Node::counters() const { return state_->counters; }

const DetectorCounters* Node::detector_counters() const {
  return state_->detector == nullptr ? nullptr : &state_->detector->counters();
}

NodeTables Node::tables() const {
  return {state_->requests->in_use(), state_->operations_open, state_->buffers->in_use()};
}

const FlightRecorder& Node::flight_recorder() const { return state_->recorder; }

void Node::describe_groups(Nanoseconds now) {
  for (std::uint32_t group = 0; group < state_->groups.size(); ++group)
    if (state_->groups[group].used) flight_log::describe_group(*state_, group, now);
}

std::uint64_t Node::payload_bytes_used() const { return state_->buffers->used(); }

void Node::debug_dump() const {
  NodeState& st = *state_;
  std::printf("== node %u payload %llu of %llu\n", st.settings.self, (unsigned long long)st.buffers->used(),
              (unsigned long long)st.limits.payload_bytes);
  for (unsigned u = 0; u < 6; ++u) std::printf(" use%u %llu", u, (unsigned long long)st.buffers->used_by(u));
  std::printf("\n");
  for (std::uint32_t g = 0; g < st.groups.size(); ++g) {
    if (st.groups[g].base == 0 && st.groups[g].global_base == 0) continue;
    std::printf(" group %u base %u global %u rank %u\n", g, st.groups[g].base, st.groups[g].global_base,
                st.groups[g].rank);
    for (std::uint32_t k = 0; k < st.limits.open_generations; ++k) {
      const std::uint32_t i = g * st.limits.open_generations + k;
      const Slot& s = st.slots[i];

      std::printf(
          "  slot %u gen %u op %d root %u state %d shape %d bytes %llu layout %llu buffer %u input %u arrivals %u "
          "called %d streams_open %u blocked %d alg %d\n",
          i, s.generation, (int)s.operation, s.root, (int)s.state, s.shape_known, (unsigned long long)s.total_bytes,
          (unsigned long long)s.layout.bytes, s.buffer, s.input, s.arrivals, s.called, s.streams_open, s.blocked,
          (int)s.choice.algorithm);
      if (!s.shape_known || s.state == Slot::State::kEmpty) continue;
      const RankSchedule r = st.engine->schedule(i);
      for (const Stage& stage : r.stages)
        for (std::uint32_t x = 0; x < std::uint32_t(stage.receives) + stage.sends; ++x) {
          const std::uint32_t index = stage.first_transfer + x;
          const Transfer& t = r.transfers[index];
          const TransferState& ts = st.transfer_states[std::size_t{i} * st.limits.transfers + index];
          std::printf("    %s node %u bulk %d stream state %d id %u progress %llu bytes %llu\n",
                      x < stage.receives ? "from" : "to", transfers::node_of(st, i, t.peer), slots::is_bulk(st, i, t),
                      (int)ts.stream, ts.stream_id, (unsigned long long)ts.progress,
                      (unsigned long long)slots::stream_bytes(st, i, t));
        }
    }
  }
  for (const OutgoingMessage& o : st.outgoing)
    if (o.state != OutgoingMessage::State::kFree)
      std::printf("  outgoing to %u tag %llu state %d bytes %llu stream %u\n", o.peer, (unsigned long long)o.tag,
                  (int)o.state, (unsigned long long)o.payload.length, o.stream);
  for (const IncomingMessage& o : st.incoming)
    if (o.state != IncomingMessage::State::kFree)
      std::printf("  incoming from %u tag %llu state %d bytes %llu stream %u\n", o.peer, (unsigned long long)o.tag,
                  (int)o.state, (unsigned long long)o.bytes, o.stream);
}
std::uint64_t Node::buffer_bytes(BufferId buffer) const { return state_->buffers->bytes(buffer); }
bool Node::has_work() const { return state_->works > 0; }
bool Node::operation_in_flight() const { return state_->operations_open > 0; }
bool Node::fits_budget(std::uint64_t bytes) const { return state_->buffers->can_ever_fit(bytes); }

Nanoseconds Node::next_deadline() const {
  NodeState& s = *state_;
  Nanoseconds t = std::min({s.slot_timer, s.request_timer, s.vacancy_timer, s.ready.earliest()});
  if (s.nic->enabled()) t = std::min(t, s.nic->next_deadline());
  if (s.detector != nullptr) t = std::min(t, s.detector->next_deadline());
  // Whose transport is blocked is due when it is writable: until then there is nothing to be done at any time.
  for (std::uint32_t i = s.ready.next_ready(0); i != ReadyTable::kNone; i = s.ready.next_ready(i + 1))
    if (s.peers[i].writable) t = std::min(t, s.peers[i].channel->next_deadline());
  return t;
}

std::uint32_t Node::group_count() const {
  std::uint32_t n = 0;
  for (const GroupState& g : state_->groups) n += g.used;
  return n;
}

Node::GroupInfo Node::group_info(std::uint32_t index) const {
  std::uint32_t i = 0;
  while (!state_->groups[i].used || index-- > 0) ++i;
  const GroupState& g = state_->groups[i];
  return {.id = g.id,
          .name = groups::name_of(g),
          .definition = g.definition,
          .members = g.members,
          .rank = g.rank,
          .participants = g.participants,
          .routers = g.routers,
          .next_generation = g.base,
          .policy = g.policy,
          .quorum = g.quorum,
          .epoch = g.epoch,
          .live = g.live_count,
          .outside = g.change.outside || g.change.cut_off,
          .plan = g.plan,
          .slowest = stragglers::slowest(*state_, i)};
}

}  // namespace fibocast
