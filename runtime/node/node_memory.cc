// How a node's memory is laid out: every table, in one place, sized by Limits.
#include <algorithm>
#include <bit>
#include <new>

#include "collectives/check.h"
#include "runtime/node/group_trees.h"
#include "runtime/node/node.h"
#include "runtime/node/node_state.h"
#include "runtime/node/peers.h"
#include "transport/memory_carver.h"

namespace fibocast {

namespace {

// Objects that the state points to, and the memory they were given.
struct Parts {
  Engine::Memory engine;
  std::span<std::byte> engine_place, nic_place, buffers_place, requests_place, nic_memory;
  std::span<std::byte> detector_place, detector_memory;
  std::span<PayloadBuffers::Entry> buffers;
  std::span<Request> requests;
  std::span<FlightEvent> flight_events;
  std::span<PeerMap::Place> peer_places;
  std::span<std::uint64_t> ready_words;
  std::span<Nanoseconds> rest_until;
};

// All eager payloads that peers can make us keep at a time.
std::uint32_t eager_buffers(const Limits& l) {
  return peers::entries(l) * (l.message_credit + l.host_credit) + l.groups * l.open_generations;
}

// Creations that are no more and are remembered.
std::uint32_t removals_kept(const Limits& l) { return std::min<std::uint32_t>(2 * l.groups, 84); }

// One description of the layout, for counting bytes and for taking them. First what is written at once ..
template <class Carver>
void lay_out_written(const Limits& l, Carver& carver, NodeState& s, Parts& p) {
  const std::size_t slots = std::size_t{l.groups} * l.open_generations, entries = peers::entries(l);
  s.peers = carver.template take<Peer>(entries);
  p.ready_words = carver.template take<std::uint64_t>(ReadyTable::words_for(entries));
  p.rest_until = carver.template take_untouched<Nanoseconds>(entries);
  p.peer_places = carver.template take<PeerMap::Place>(peers::cover_all(l) ? 0 : PeerMap::places_for(entries));
  s.groups = carver.template take<GroupState>(l.groups);
  s.removed = carver.template take<CreationId>(removals_kept(l));
  s.slots = carver.template take<Slot>(slots);
  s.outgoing = carver.template take<OutgoingMessage>(l.requests + l.host_credit);
  s.incoming = carver.template take<IncomingMessage>(entries * (l.message_credit * 2 + l.host_credit) + l.requests);
  p.requests = carver.template take<Request>(l.requests);
  p.buffers = carver.template take<PayloadBuffers::Entry>(Node::buffer_ids(l));
  p.engine.runs = carver.template take<Engine::Run>(slots);
}

// .. and then large tables, untouched until used.
template <class Carver>
void lay_out(const Limits& l, Carver& carver, NodeState& s, Parts& p) {
  lay_out_written(l, carver, s, p);
  const std::size_t slots = std::size_t{l.groups} * l.open_generations, entries = peers::entries(l);
  const std::size_t channel = carved_bytes<ReliableChannel>(1) +
                              carved_bytes<std::byte>(ReliableChannel::bytes_needed(peers::channel_limits(l)));
  s.transfer_states = carver.template take_untouched<TransferState>(slots * l.transfers);
  s.offsets = carver.template take_untouched<std::uint64_t>(l.transfers);
  s.local_work = carver.template take_untouched<LocalWork>(l.local_work);
  s.inquiry_members = carver.template take_untouched<InquiryMember>(std::size_t{l.groups} * l.nodes);
  s.live_words = carver.template take_untouched<std::uint64_t>(4 * l.groups * RankBits::words_for(l.nodes));
  s.outcomes = carver.template take_untouched<std::byte>(3 * slots);
  s.tree_entries = carver.template take_untouched<TreeTableEntry>(std::size_t{l.groups} * l.nodes);
  s.child_bases = carver.template take_untouched<Generation>(std::size_t{l.groups} * l.transfers);
  s.child_windows = carver.template take_untouched<Generation>(std::size_t{l.groups} * l.transfers);
  s.window_stages = carver.template take_untouched<Stage>(std::size_t{l.groups} * l.stages);
  s.window_transfers = carver.template take_untouched<Transfer>(std::size_t{l.groups} * l.transfers);
  s.dormant = carver.template take_untouched<DormantGroup>(l.dormant_groups);
  s.slow_ranks = carver.template take_untouched<SlowRank>(std::size_t{l.groups} * l.slowest_ranks);
  p.engine.stages = carver.template take_untouched<Stage>(slots * l.stages);
  p.engine.progress = carver.template take_untouched<Engine::StageProgress>(slots * l.stages);
  p.engine.transfers = carver.template take_untouched<Transfer>(slots * l.transfers);
  p.engine.counts = carver.template take_untouched<std::uint32_t>(slots * l.transfers);
  p.flight_events = carver.template take_untouched<FlightEvent>(l.flight_events);
  p.engine_place = carver.template take_untouched<std::byte>(sizeof(Engine));
  p.nic_place = carver.template take_untouched<std::byte>(sizeof(EmulatedNic));
  p.buffers_place = carver.template take_untouched<std::byte>(sizeof(PayloadBuffers));
  p.requests_place = carver.template take_untouched<std::byte>(sizeof(RequestList));
  p.nic_memory = carver.template take_untouched<std::byte>(EmulatedNic::bytes_needed(l.nic_queue));
  s.outgoing_streams = carver.template take_untouched<StreamOwner>(entries * l.bulk_streams);
  s.incoming_streams = carver.template take_untouched<StreamOwner>(entries * l.bulk_streams);
  if (peers::cover_all(l)) {
    p.detector_place = carver.template take_untouched<std::byte>(sizeof(FailureDetector));
    p.detector_memory = carver.template take_untouched<std::byte>(FailureDetector::bytes_needed(l));
  }
  s.small_buffers = carver.template take_untouched<BufferId>(entries * l.small_window);
  s.channel_memory = carver.template take_untouched<std::byte>(entries * channel);
}

// The lowest byte counts renewals (Handshake::renew()).
std::uint64_t whole_incarnation(std::uint64_t random) {
  const std::uint64_t whole = random / Handshake::kRenewals * Handshake::kRenewals;
  return whole == 0 ? Handshake::kRenewals : whole;
}

// The detector counts from the first unanswered probe, users from the silence to the verdict: what comes before the
// probe, and telling and asking everybody afterwards, has the last quarter.
DetectorSettings detector_settings(const NodeSettings& s) {
  DetectorSettings d;
  d.self = s.self, d.nodes = s.nodes, d.incarnation = s.incarnation, d.suspicion = s.suspicion - s.suspicion / 4;
  d.waiting_interval = std::min(d.waiting_interval, s.suspicion / 20);
  return d;
}

}  // namespace

std::uint32_t Node::buffer_ids(const Limits& limits) { return limits.buffers + eager_buffers(limits); }

std::size_t Node::bytes_needed(const Limits& limits) {
  MemoryCounter counter;
  NodeState state(limits, NodeSettings{});
  Parts parts;
  lay_out(limits, counter, state, parts);
  return counter.bytes() + carved_bytes<NodeState>(1);
}

std::size_t Node::bytes_written_at_once(const Limits& limits) {
  MemoryCounter counter;
  NodeState state(limits, NodeSettings{});
  Parts parts;
  lay_out_written(limits, counter, state, parts);
  return counter.bytes() + carved_bytes<NodeState>(1);
}

std::array<std::span<std::byte>, 2> Node::memory_of_work() const {
  const std::span<std::byte> channels = state_->channel_memory;
  const std::size_t entries = peers::entries(state_->limits);
  return {state_->recorder.memory(), channels.first(channels.size() / entries * state_->peers_used)};
}

Node::Node(const Limits& limits, const NodeSettings& settings, std::span<std::byte> memory) {
  check(settings.nodes <= limits.nodes && settings.self < settings.nodes && memory.size() >= bytes_needed(limits));
  check(std::has_single_bit(limits.open_generations));
  check(limits.small_body == kMaxPeerMessage && limits.nodes <= group_trees::kMostRanks);
  state_ = new (memory.data()) NodeState(limits, settings);
  state_->settings.incarnation = whole_incarnation(settings.incarnation);
  MemoryCarver carver(memory.subspan(carved_bytes<NodeState>(1)));
  Parts p;
  lay_out(limits, carver, *state_, p);
  state_->peer_map = PeerMap(p.peer_places);
  state_->ready = ReadyTable(p.ready_words, p.rest_until);
  peers::take_first(*state_);
  state_->recorder = FlightRecorder(p.flight_events);
  if (peers::cover_all(limits) && settings.detects_failures)
    state_->detector =
        new (p.detector_place.data()) FailureDetector(limits, detector_settings(state_->settings), p.detector_memory);
  state_->engine = new (p.engine_place.data()) Engine(limits, p.engine);
  state_->nic = new (p.nic_place.data()) EmulatedNic(settings.nic, limits.nic_queue, p.nic_memory);
  state_->buffers = new (p.buffers_place.data()) PayloadBuffers(p.buffers, limits.payload_bytes, eager_buffers(limits));
  state_->requests = new (p.requests_place.data()) RequestList(p.requests);
}

}  // namespace fibocast
