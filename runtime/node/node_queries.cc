// What the host may ask a node: nothing changes by it.
#include <algorithm>

#include "runtime/node/flight_log.h"
#include "runtime/node/groups.h"
#include "runtime/node/node.h"
#include "runtime/node/node_state.h"
#include "runtime/node/peers.h"
#include "runtime/node/presence.h"
#include "runtime/node/stragglers.h"

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
          .creation = g.creation,
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
