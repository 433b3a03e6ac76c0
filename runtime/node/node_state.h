// The memory of a node: its tables, and nothing else. The files beside this one each own a part of its behaviour:
//   peers       channels and what is sent through them
//   groups      which groups exist, their definitions
//   operations  the open generations of each group: calls, transfers, completion, the window
//   verdicts    deadlines, freezing a generation, the coordinator's decision
//   mailbox     application messages
// node.cc dispatches. Tables are sized by Limits and referred to by index. Core.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "collectives/data_layout.h"
#include "collectives/engine.h"
#include "runtime/node/failure_detector.h"
#include "runtime/node/flight_recorder.h"
#include "runtime/node/group_change.h"
#include "runtime/node/inquiry.h"
#include "runtime/node/last_arrival.h"
#include "runtime/node/node.h"
#include "runtime/node/payload_buffers.h"
#include "runtime/node/peer_map.h"
#include "runtime/node/peer_message.h"
#include "runtime/node/rank_bits.h"
#include "runtime/node/requests.h"
#include "transport/emulated_nic.h"
#include "transport/ready_table.h"
#include "transport/reliable_channel.h"

namespace fibocast {

inline constexpr std::uint64_t kNoData = ~std::uint64_t{0};
inline constexpr Nanoseconds kAskAgain = 100'000'000;  // questions to peers are asked again after this time

// Who a bulk stream belongs to.
struct StreamOwner {
  enum class Kind : std::uint8_t { kNone, kOperation, kMessage };
  Kind kind = Kind::kNone;
  std::uint32_t stream = 0;
  std::uint32_t index = 0;      // slot, or entry of the mailbox
  std::uint32_t transfer = 0;   // operation: its place in the schedule's transfers
  BufferId buffer = kNoBuffer;  // outgoing: the reference this stream holds
};

// Messages to and from a peer that have a credit of their own.
struct MessageLane {
  std::uint32_t sent = 0, credited = 0;  // to it; of these received there
  std::uint32_t consumed = 0;            // of its messages, received here
  std::uint32_t first_outgoing = kNoIndex, last_outgoing = kNoIndex;
};

// What a node keeps of a peer: an entry of NodeState::peers, found by NodeState::peer_map and never given up again.
struct Peer {
  ReliableChannel* channel = nullptr;  // made at first use
  Nanoseconds trying_since = 0;        // when the channel was made
  Nanoseconds greet_due = 0;           // tell it (again) then
  GroupId answer_group = 0;
  std::uint64_t small_sent = 0, small_released = 0;  // messages; their difference is in small_buffers
  std::uint64_t refused_digest = 0;
  std::uint64_t incarnation = 0;  // of the last session
  NodeId node = kNoNode;
  std::uint32_t greet_group = kNoIndex;  // groups from here on were not yet told to this newcomer
  std::uint32_t session = 0;             // counts sessions with the peer
  std::uint32_t lives = 0;               // incarnations so far
  MessageLane applications, hosts;       // messages; the hosts' own have reserved tags
  std::uint32_t consumed_told = 0;       // of `applications`
  std::uint32_t inbox_entries = 0;
  std::uint8_t greet_told = 0;  // messages of that group's definition
  bool greet_answered : 1 = false, greet_rejoined : 1 = false;
  bool greet_anew : 1 = false;     // it was started again: what we are done with is nothing for it
  bool greeted_again : 1 = false;  // as it did not know a group
  bool adoption_owed : 1 = false;  // it is to hear that we have read the cluster's file again
  bool forgets_streams = false;    // no new one meanwhile
  Generation greet_from = 0;       // the first whose failure that newcomer was not told of
  bool answer_owed = false;        // to its definition of a group, for which the channel had no room
  Verdict answer = Verdict::kRefused;
  bool writable = true;
  bool credit_owed = false;
  bool given_up = false;             // since it was last connected
  bool one_credit : 1 = false;       // an older node: it knows but one for both
  bool knows_creations : 1 = false;  // no older node: it has named one
  bool by_reference : 1 = false;     // PeerPath
  bool up_event = false, restarted_event = false, refused_event = false, lost_event = false, newer_event = false;
  BeliefReason lost_reason = BeliefReason::kHeard;
  std::array<RemovalsToTell, kGroupEnds> removals{};  // by GroupEnd
};

// What is known of one transfer of a slot's schedule while it is executed.
struct TransferState {
  enum class Stream : std::uint8_t {
    kNone,
    kAnnounced,  // to the receiver, or by the sender
    kUnasked,    // ... and all of it comes ahead of the grant
    kPostponed,  // there was no memory for what came ahead: to be announced anew
    kWaiting,    // ... it was: nothing comes ahead of the grant
    kGranted,
    kDone,  // all there, or given up
  };
  Stream stream = Stream::kNone;
  bool failure_owed = false;  // send: its receiver is to be told that it will not come
  std::uint32_t stream_id = 0;
  std::uint64_t offset = 0;    // where its data lies in the slot's buffer
  std::uint64_t progress = 0;  // send: bytes of the stream that may be sent; receive: repetitions that are in
};

// One generation of one group. It stays as the record of its verdict until generation + W takes its place.
struct Slot {
  enum class State : std::uint8_t { kEmpty, kOpen, kDone };
  State state = State::kEmpty;
  bool used = false;  // `generation` means something
  ElementType type = ElementType::kBytes;
  CombineOperator op = CombineOperator::kNone;
  Generation generation = 0;
  Operation operation = Operation::kBarrier;
  bool charged = true;
  bool compared = false;        // with those it waits for (comparison.h)
  bool told_all = false;        // it is done here, and all others know that it has failed for somebody
  bool owes_failure = false;    // TransferState::failure_owed of some
  bool announces_anew = false;  // streams that were postponed, once there is room to say so
  Rank root = 0;
  bool shape_known = false;          // the payload's size is known
  bool frozen = false;               // a verdict is being found: transfers are ignored
  bool waiting = false;              // the failure detector watches whom the schedule receives from
  bool doubted = false;              // `due` because of doubts
  Rank lost = kNoRank;               // a member that was lost meanwhile
  bool arrived_when_frozen = false;  // what every coordinator is told, whoever asks and when
  bool blocked = false;              // a channel or the NIC was full
  bool closed = false;               // nothing is left to do here
  bool called = false;      // all local participants have called; the engine learns it once their data is placed
  bool has_result = false;  // it lies where the participants get it
  bool passed = false;      // by a participant whom it needs; of what is handed out, by who brought the payload here
  Verdict verdict = Verdict::kPending;
  Verdict reason = Verdict::kPending;  // why a verdict is wanted
  std::uint64_t total_bytes = 0;
  std::uint32_t segment_bytes = 0;
  AlgorithmChoice choice;
  DataLayout layout;
  std::uint64_t register_t = 0, register_s = kNoData;  // where the partial results lie (B22)
  std::uint64_t result = 0;
  BufferId input = kNoBuffer;   // what the local participant has brought, until it is placed
  std::uint32_t arrivals = 0;   // local participants that have called
  std::uint32_t delivered = 0;  // local participants that have been answered
  std::uint32_t first_call = kNoRequest;
  std::uint32_t streams_open = 0;  // outgoing, not acknowledged by their receivers yet
  std::uint32_t nic_sends = 0;     // taken by the emulated NIC, not on their way yet
  std::uint32_t late_stream = 0;   // announced after the end, by late_from: to be declined
  NodeId late_from = kNoNode;
  BufferId buffer = kNoBuffer;
  NodeId answer_owed = kNoNode;  // the coordinator that waits for our freeze answer
  std::uint32_t coordinators_tried = 0;
  Generation least = std::numeric_limits<Generation>::max();  // of a barrier: all who told by it are past those before
  Nanoseconds due = kNever;                                   // when a verdict is asked for (again)
  Nanoseconds resume_at = kNever;                             // when a stage's model time has come (emulated NIC)
  Nanoseconds asked_at = 0;                                   // since when this coordinator is being asked
  Nanoseconds arrived_at = 0, activated_at = 0, first_send_at = 0, ended_at = 0, lateness = 0;
  LastArrival last_arrival;  // of a barrier
  RankSet ranks;             // while it is open: who is known not to know how it is done; then the verdict's
};

// A given tree that comes in pieces.
struct TreeIntake {
  NodeId from = kNoNode;  // kNoNode: none is coming
  Epoch epoch = 0;
  Rank taken = 0;      // entries that are here
  bool other = false;  // of another creation than the group that is here
  Nanoseconds due = kNever;
};

struct GroupState {
  bool used = false;
  bool coming = false;  // not used yet: its definition is here, but not all of its tree
  bool created = false;
  bool opened = false;           // by an application here, which knows by now where it begins
  std::uint32_t definition = 0;  // counts the groups that this node has come to know
  GroupId id = 0;
  CreationId creation = kUnknownCreation;
  Epoch epoch = 1;
  std::array<char, 48> name{};
  std::uint8_t name_length = 0;
  GroupPolicy policy = GroupPolicy::kAll;
  bool shrunk = false;  // not all members are in the open epoch
  RankSet members;
  Rank rank = kNoRank;
  std::uint32_t participants = 1;
  Rank routers = 0;
  Rank quorum = 0;
  NodeId owed_by = kNoNode;  // who is to bring it to all members; kNoNode: they have it (half_made.h)
  // Members of the open epoch, of the last one that has gone, and of the one that is proposed.
  RankBits live, settled, proposed;
  // Schedules are among the members of the epoch that was installed here: who leads a change may be told of another.
  RankBits placed() const { return live.behind(3); }
  EpochChange change;
  PlanHold hold;
  PlanRefusal plan_refusal;
  Rank live_count = 0;
  Plan plan;
  Generation base = 0;          // the lowest generation that is not over here
  Generation global_base = 0;   // ... at any member, as far as known
  Generation reported = 0;      // the subtree's base as last told upwards
  std::uint32_t held = 0;       // requests that wait for the window
  Nanoseconds count_again = 0;  // not before: they have asked for it to be counted
  bool crowded = false;         // a call waits outside for the window to move
  bool retrying = false, retry_again = false;
  Rank doubted = kNoRank;        // a member that was away (doubts.h),
  Generation doubted_until = 0;  // ... and may have lost data of the generations before
  std::uint32_t slow_used = 0;   // rows of slow_ranks in use
  Inquiry inquiry;
  TreeIntake intake;
  Generation death = 0;   // in which an application died last, as far as known here,
  ShortText death_label;  // ... and what it had called its call; empty: not known
};

// A group that exists by its name, while another has its place in the table (dormant.h).
struct DormantGroup {
  bool used = false;
  bool opened = false;
  GroupId id = 0;
  std::uint32_t definition = 0, participants = 1;
  Generation base = 0, global_base = 0;
  std::array<char, 48> name{};
  std::uint8_t name_length = 0;
};

// Application messages, both directions.
struct OutgoingMessage {
  enum class State : std::uint8_t { kFree, kQueued, kStreaming };
  State state = State::kFree;
  NodeId peer = kNoNode;
  std::uint64_t tag = 0;
  PayloadRange payload;
  std::uint32_t stream = 0;
  std::uint32_t next = kNoIndex;
};

struct IncomingMessage {
  enum class State : std::uint8_t { kFree, kAnnounced, kComing, kComplete };
  State state = State::kFree;
  bool grant_owed = false;
  NodeId peer = kNoNode;
  std::uint32_t session = 0;
  std::uint32_t stream = 0;
  std::uint64_t tag = 0;
  std::uint64_t order = 0;  // of arrival
  std::uint64_t bytes = 0;
  BufferId buffer = kNoBuffer;
};

struct NodeState {
  NodeState(const Limits& l, const NodeSettings& s) : limits(l), settings(s) {}

  Limits limits;
  NodeSettings settings;
  NodeCounters counters;
  PeerMap peer_map;
  std::span<Peer> peers;  // the first `peers_used` are somebody's; also the entries of what is kept per peer below
  std::uint32_t peers_used = 0;
  std::uint32_t incoming_used = 0;  // of `incoming`
  ReadyTable ready;                 // of each entry's channel
  std::span<std::byte> channel_memory;
  std::span<BufferId> small_buffers;        // per peer, small_window each: payloads of unacknowledged small messages
  std::span<StreamOwner> outgoing_streams;  // per peer, bulk_streams each
  std::span<StreamOwner> incoming_streams;
  std::span<GroupState> groups;
  std::span<Slot> slots;                     // per group, open_generations each; also the engine's runs
  std::span<TransferState> transfer_states;  // per slot, transfers each
  std::span<std::uint64_t> offsets;          // transfers: while a layout is made
  std::span<LocalWork> local_work;           // a ring: what the host is to do, in order
  std::span<InquiryMember> inquiry_members;  // per group, nodes each
  std::span<std::uint64_t> live_words;       // per group, four sets of nodes bits
  std::span<std::byte> outcomes;             // per group, three windows of generations (epochs.h)
  std::span<TreeTableEntry> tree_entries;    // per group, nodes each: the memory of Plan::given
  std::span<Generation> child_bases;         // per group, transfers each: what the children of the reduction told
  std::span<Generation> child_windows;       // per group, transfers each: what the children of the distribution heard
  std::span<Stage> window_stages;            // per group: the barrier's schedule from rank 0, for the window
  std::span<Transfer> window_transfers;
  std::span<CreationId> removed;    // the last ones (removals.h)
  std::span<DormantGroup> dormant;  // a ring; NodeCounters::groups_set_aside so far
  std::span<SlowRank> slow_ranks;   // per group, slowest_ranks each
  std::span<OutgoingMessage> outgoing;
  std::span<IncomingMessage> incoming;
  FlightRecorder recorder;
  FailureDetector* detector = nullptr;  // none if there are fewer channels than nodes
  Engine* engine = nullptr;
  EmulatedNic* nic = nullptr;
  PayloadBuffers* buffers = nullptr;
  RequestList* requests = nullptr;

  Replanning replanning;
  Nanoseconds born_at = 0;  // Node::start()
  std::uint32_t groups_created = 0;
  std::array<std::uint32_t, kGroupEnds> removals{};  // so far, by GroupEnd
  std::uint32_t groups_known = 0;
  std::uint64_t messages_in = 0;
  std::uint32_t operations_open = 0;
  std::uint32_t vacancies = 0;        // Request::vacant
  BufferId place_buffer = kNoBuffer;  // of Event::kPlace, while there is one
  bool again = false;                 // something could not be sent: look again after the next event
  bool buffers_wanted = false;        // an incoming payload waits for the byte budget
  bool peer_events = false;
  bool copy_pending = false;
  Nanoseconds slot_timer = kNever;     // not later than the earliest Slot::due, Slot::resume_at and Inquiry::due
  Nanoseconds request_timer = kNever;  // not later than the earliest Call::not_before or deadline of a held call
  Nanoseconds vacancy_timer = kNever;  // not later than the earliest Request::vacant_until
  std::uint32_t next_to_transmit = 0;
  std::uint32_t sent_in_a_row = 0;          // payloads to the peer whose turn it is
  std::uint32_t first_work = 0, works = 0;  // in local_work
  std::span<const std::byte> copy_bytes;
  PayloadRange copy_range;
  std::uint64_t place_cookie = 0;
};

}  // namespace fibocast
