// One node: everything a daemon does that is not a socket, a clock or a file. It joins the engine (which
// executes schedules), the reliable channels to its peers, the groups it is in, deadlines and verdicts, and the
// application messages. Pure: events and the time in, frames and events out. A host drives it - the Asio daemon,
// the embedded node, or the virtual-time simulator - and owns the payload bytes.
//
// Use: after every event or command call, until they return false and has_work() too: poll_event(), poll_transmit().
// Then sleep until next_deadline() or the next frame, and call on_timer(). Not thread-safe; no heap; all memory is
// handed in.
//
// Payload buffers: the node decides (under Limits::payload_bytes) which buffers exist and how large they are; the
// host keeps the bytes. The host takes memory for a buffer when it first sees its id (buffer_bytes() tells the size)
// and returns it at Event::kBufferFree.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "collectives/plan.h"
#include "collectives/types.h"
#include "runtime/node/belief.h"
#include "runtime/node/flight_recorder.h"
#include "runtime/node/group_policy.h"
#include "runtime/node/local_work.h"
#include "runtime/node/rank_set.h"
#include "runtime/node/short_text.h"
#include "runtime/node/straggler.h"
#include "transport/emulated_nic.h"
#include "transport/reliable_channel.h"

namespace fibocast {

struct NodeState;         // the node's memory: node_state.h
struct DetectorCounters;  // failure_detector.h

inline constexpr std::size_t kMaxGroupName = 47;  // bytes

struct NodeSettings {
  NodeId self = 0;
  std::uint32_t nodes = 1;           // daemons in the cluster, at most Limits::nodes
  std::uint64_t incarnation = 1;     // new at every start: random bytes of the host; the lowest one does not count
  std::uint64_t cluster_digest = 0;  // of cluster name and node list: peers with another one are refused
  Plan plan;                         // of every group that is not created with its own: without a given tree
  NicSettings nic;
  Nanoseconds suspicion = 2'000'000'000;        // so long after a peer fell silent, those who wait know that it is lost
  Nanoseconds group_patience = 30'000'000'000;  // create_group: members that have not answered by then refused
  Nanoseconds client_grace = 1'000'000'000;     // abandon_call(): so long the place of a caller that died is kept
  Nanoseconds resend_floor = 1'000'000;
  Nanoseconds first_resend = 20'000'000;
  // So much of a stream is sent before its receiver has granted it: that saves a round trip, and what comes too early
  // is lost and sent again. By reference all of it is.
  std::uint32_t ahead_bytes = 64 << 10;
  // Of paths to peers: see PeerPath.
  std::uint32_t fragment_bytes = 1200;
  std::uint64_t receive_buffer_bytes = 212992;  // of the host's socket: see bulk_window()
  bool by_reference = false;
  bool detects_failures = true;  // false: nobody is ever lost; experiments on machines that do not fail
};

// How frames reach a peer. Per peer: Node::set_path(); it holds until the next one.
struct PeerPath {
  std::uint32_t fragment_bytes = 1200;
  // The peer reads payloads where they are: to send that they are there costs little.
  bool by_reference = false;
  std::uint64_t bulk_window_bytes = 4096;  // of bulk on its way to us: bulk_window(), or all that the path holds
};

// Of the frames that the kernel can hold for us at most 40 % may be on their way, from at most four peers at a time
// (PROTOCOL 12).
constexpr std::uint64_t bulk_window(std::uint64_t receive_buffer_bytes) {
  return std::max<std::uint64_t>(receive_buffer_bytes / 5 * 2 / 4, 4096);
}

// A group's definition. `members` are NodeIds; a group's rank is the position in it.
struct GroupDefinition {
  std::string_view name;
  RankSet members;
  std::uint32_t participants = 1;          // local participants at each node
  Rank routers = 0;                        // the last ranks: they have none, and only pass a flood on (E7)
  GroupPolicy policy = GroupPolicy::kAll;  // other policies: no routers, no emulated NIC, a failure detector
  Rank quorum = 0;                         // kQuorum: more than half of the members
  Plan plan;                               // a given tree is copied; a group that has shrunk takes NodeSettings::plan
  bool if_missing = false;                 // one of this name that is like it, but for the plan, is as good
};

// What an application asks for. `cookie` is the host's own and comes back in CallDone.
struct Call {
  std::uint64_t cookie = 0;
  GroupId group = 0;
  Operation operation = Operation::kBarrier;
  Rank root = 0;  // multicast, reduce, scatter, gather, divide, conquer: its rank in the group; the others: 0
  AlgorithmChoice choice = {};  // kPlanned: what the group's plan says
  ElementType type = ElementType::kBytes;
  CombineOperator op = CombineOperator::kNone;  // reduce, allreduce, conquer
  bool charged = true;                          // the emulated NIC, if any, charges this operation's transfers
  bool has_place = false;                       // for what it gets: see Event::kPlace
  std::uint64_t total_bytes = 0;                // conquer: of the root's vector; the others: 0
  std::optional<Generation> generation;         // a library participant numbers its own; none: the open one (the CLI)
  // Absolute. A call that the window of open generations kept waiting all the time ends with kDeadlineExceeded and no
  // ranks: who holds up the window is not known.
  Nanoseconds deadline = kNever;
  Nanoseconds not_before = 0;    // absolute: the participant counts as arrived only then (experiments)
  std::uint32_t client = 0;      // the caller's number, in the order in which callers came: see abandon_call()
  std::uint32_t definition = 0;  // GroupInfo::definition of the group that is meant; 0: whichever has the id
  PayloadRange payload;          // what this rank brings: a whole buffer of reserve_buffer(); none: 0 bytes
};

struct CallDone {
  std::uint64_t cookie = 0;
  Verdict verdict = Verdict::kPending;
  Generation generation = 0;
  RankSet ranks;                  // kDeadlineExceeded, kPeerLost, kCallerLost, kRefused: the ranks concerned
  PayloadRange payload;           // what this rank gets: give it back with release_buffer() once copied
  Nanoseconds arrived_at = 0;     // when the last local participant had called
  Nanoseconds activated_at = 0;   // when the last message this rank waited for was in (the root: arrived_at)
  Nanoseconds first_send_at = 0;  // begin of this rank's first send (occupancy), 0 if it sent nothing
  Nanoseconds lateness = 0;       // the emulated NIC: largest wake-up delay in this operation at this node
  Straggler straggler;            // a barrier that is kOk: who came last
};

// Something for the host. kCopy, kWork and kPlace must be done before the next call into the node; they and kBufferFree
// fill only what is named here, the others set everything else to its default.
struct Event {
  enum class Kind : std::uint8_t {
    kCopy,        // copy `bytes` into `range`
    kWork,        // do_local_work(`work`, ..)
    kPlace,       // the whole `range.buffer`, yet untouched, is what the call with this `cookie` will get. Nobody else
                  // reads it: it may lie where the caller wants it, for as long as the call lasts
    kCallDone,    // `done`
    kMessage,     // an application message for receive_message(): `cookie`, `peer`, `tag`, `range` (release it)
    kBufferFree,  // `range.buffer` is no longer used by anybody
    kGroupReady,  // `cookie` of create_group: `done.verdict` and, if refused, the `done.ranks` that refused
    kPeerUp,      // `peer` is connected
    kPeerRestarted,  // `peer` came back as a new incarnation: what was under way to it is lost
    kPeerRefused,    // `peer` has another cluster digest: `peer_digest`
    kPeerLost,       // `peer` is believed dead or cut off: `reason`. What was under way to it is lost
    kPeerNewer,      // `peer` names what this version does not know: an operation, an algorithm, a plan
  };
  Kind kind = Kind::kCopy;
  std::span<const std::byte> bytes;
  LocalWork work;
  PayloadRange range;
  CallDone done;
  ShortText label;  // kCallDone with kCallerLost: what the caller that died had called its call
  std::uint64_t cookie = 0;
  NodeId peer = kNoNode;
  std::uint64_t tag = 0;
  std::uint64_t peer_digest = 0;
  BeliefReason reason = BeliefReason::kHeard;
};

struct NodeCounters {
  std::uint64_t malformed = 0;       // datagrams that are no frame, or not for this node
  std::uint64_t not_understood = 0;  // messages of newer nodes that name what this version does not know
  std::uint64_t unknown_group = 0;   // messages for a group that does not exist here
  std::uint64_t stale = 0;           // messages of a generation that is over
  std::uint64_t early = 0;           // messages of a generation in which nobody has called here yet
  std::uint64_t duplicate = 0;       // transfers that were in already
  std::uint64_t future = 0;          // messages beyond the open generations
  std::uint64_t mismatch = 0;        // messages of another operation in the same generation
  std::uint64_t bad_trees = 0;       // definitions refused: their tree came in wrong pieces, or is no tree
  std::uint64_t channels_full = 0;   // times that a peer could have no channel, for all of Limits::channels were taken
  std::uint64_t frozen = 0;          // transfers ignored because a verdict is being found, or the epoch changes
  std::uint64_t epochs = 0;          // changes of groups' epochs that this node has gone along with
  std::uint64_t groups_set_aside = 0;  // times that a group of all nodes, not used, made place for another
  std::uint64_t callers_lost = 0;      // applications that died in an operation here, and nobody took their place
  std::uint64_t callers_back = 0;      // ... and somebody did
  std::uint64_t operations_ok = 0;
  std::uint64_t operations_failed = 0;
  std::uint64_t stragglers = 0;  // barriers whose last rank is known here
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t messages_unread = 0;   // of senders that were lost since, and whose new messages needed their places
  std::uint64_t messages_dropped = 0;  // their receiver was lost before they left
};

// Entries of the node's tables that are taken just now.
struct NodeTables {
  std::uint32_t requests =
      0;  // calls, receives and group creations that are not answered yet, or kept (abandon_call())
  std::uint32_t operations = 0;  // open generations, of all groups
  std::uint32_t buffers = 0;     // payloads
};

// Answers of commands that can be refused at once.
enum class Admission : std::uint8_t {
  kTaken,
  kWouldBlock,  // a table or the byte budget is full just now: try again after the next event
  kUnknownGroup,
  kNotMember,  // this node is not in the group
  kBadRank,
  kTooLarge,  // can never fit the byte budget
  kBadName,
  kExists,             // there is a group of that name
  kOtherParticipants,  // ... with another number of participants at each member
  kManyGroups,         // as many as Limits::groups are here, in use or created, and none is about to go
  kNoPlan,             // the tree has more children at one rank than Limits::transfers, or is none of the members
  kBadOperation,       // the algorithm, element type, operator or size does not fit the operation
  kBadPolicy,          // see GroupDefinition::policy; or more members than kMostShrinkingMembers
  kManyParticipants,   // this operation is for groups of one participant per node
  kNotRoot,            // only the root brings something
  kReservedName,       // "all" is every node; what stands behind a "/" is a label
  kReservedTag,        // see Node::kFirstReservedTag
  kTooManyLocal,       // participants at one node: more than Limits::participants
  kIsThere,            // GroupDefinition::if_missing: all members have it
};

// What a buffer of the host is for.
enum class BufferFor : std::uint8_t { kOperation, kMessage, kHostsMessage };

class Node {
 public:
  static std::size_t bytes_needed(const Limits& limits);
  // Buffer ids are below this.
  static std::uint32_t buffer_ids(const Limits& limits);
  // Of its memory, from the beginning: what the constructor writes.
  static std::size_t bytes_written_at_once(const Limits& limits);
  // ... and what a node at work writes little by little, all of it within some thousand operations: the ring of the
  // flight recorder, and the channels to its peers.
  std::array<std::span<std::byte>, 2> memory_of_work() const;
  // `memory`: at least bytes_needed(limits), aligned for max_align_t, zeroed or not; outlives the node.
  // Precondition: settings within limits (nodes <= limits.nodes, self < nodes).
  Node(const Limits& limits, const NodeSettings& settings, std::span<std::byte> memory);
  ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // -- queries
  std::uint32_t connected_peers() const;
  bool is_settled() const;  // its peers have all that was sent to them, and know that this node has all of theirs
  ChannelState peer_state(NodeId peer) const;
  Belief peer_belief(NodeId peer) const;                    // kUnknown: never heard, or this node does not watch
  const ChannelCounters* peer_counters(NodeId peer) const;  // null: no channel yet
  Nanoseconds peer_round_trip(NodeId peer) const;
  const NodeCounters& counters() const;
  const DetectorCounters* detector_counters() const;  // null: this node does not watch
  NodeTables tables() const;
  const FlightRecorder& flight_recorder() const;
  std::uint64_t payload_bytes_used() const;
  std::uint64_t buffer_bytes(BufferId buffer) const;
  Nanoseconds next_deadline() const;
  // poll_event() has a kWork; poll_transmit() waits until it is done.
  bool has_work() const;
  // Some operation of ours is in flight (the `adaptive` waiting policy looks at this).
  bool operation_in_flight() const;
  struct GroupInfo {
    GroupId id = 0;
    std::string_view name;
    std::uint32_t definition = 0;            // a group that was removed and made anew has another one
    CreationId creation = kUnknownCreation;  // ... and another one of these, which is the same at all members
    RankSet members;
    Rank rank = kNoRank;
    std::uint32_t participants = 1;
    Rank routers = 0;
    Generation next_generation = 0;  // the lowest that is not over at this node
    GroupPolicy policy = GroupPolicy::kAll;
    Rank quorum = 0;
    Epoch epoch = 0;
    Rank live = 0;         // members of this epoch
    bool outside = false;  // this node is not among them, or cannot reach them
    Plan plan;
    std::span<const SlowRank> slowest;  // rows of the table, in no order; until the next command or event
  };
  std::uint32_t group_count() const;
  GroupInfo group_info(std::uint32_t index) const;  // index < group_count()

  // -- commands
  void describe_groups(Nanoseconds now);  // tells the flight recorder what each group is, for who reads it next
  void start(Nanoseconds now);  // connects to the peers, unless channels are made at first use (Limits::channels)
  // The cluster's file was read again. `nodes`: not fewer than before, within the limits. Groups and connections that
  // exist stay as they are; who was refused is asked again. Groups of all nodes that are opened from now on have
  // `nodes` members and `plan`; while some daemons have not read it, calls in these end with kRefused and their ranks.
  void adopt_cluster(std::uint32_t nodes, std::uint64_t cluster_digest, const Plan& plan, Nanoseconds now);
  void leave(Nanoseconds now);  // the node ends: its peers take it for lost at once, as far as they hear of it
  // The group of this name: one that was created, else the group of all nodes that exists by its name.
  // kTaken with `id` and the generation in which a new participant starts. `participants` 0: whatever it has, or 1.
  Admission open_group(std::string_view name, std::uint32_t participants, GroupId& id, Generation& generation);
  // Creates a group and tells its members; Event::kGroupReady when all have it. Removed before that: kCancelled.
  Admission create_group(const GroupDefinition& definition, std::uint64_t cookie, Nanoseconds now);
  Admission remove_group(std::string_view name, Nanoseconds now);
  // A new plan for a group that was created, from a generation on that its members agree on: Event::kGroupReady when
  // all have it, or who is missing after NodeSettings::group_patience. Asked at a member; without a given tree.
  Admission replan_group(std::string_view name, const Plan& plan, std::uint64_t cookie, Nanoseconds now);
  // kTaken: exactly one CallDone will follow.
  Admission call(const Call& call, Nanoseconds now);
  // A call that found no room until its deadline: its generation goes by without this participant, as if it had been
  // taken and ended then. The call's payload does not count. kWouldBlock: the others may wait for it in vain.
  Admission pass(const Call& call, Nanoseconds now);
  // The host no longer wants the answer (the call was cancelled). The arrival stands.
  void forget_call(std::uint64_t cookie);
  // The caller died. Within NodeSettings::client_grace another call for the same operation and generation takes its
  // place: it is answered as this one would have been, even if that was meanwhile, and what it brings is not used.
  // Where a node has several participants only a client that came later than `newest_client` is taken for the dead one.
  // Else the generation ends with kCallerLost and this rank for all members, unless it is over by then. A call without
  // a generation, which joins what is open, is lost only if it was counted already. `label`: the dead caller's own
  // word.
  void abandon_call(std::uint64_t cookie, std::string_view label, std::uint32_t newest_client, Nanoseconds now);
  // A buffer for bytes that the host brings in (a payload to send). None: the budget is used up just now. Messages of
  // applications, which wait for their receivers, leave a quarter of it to operations; the host's own have some room
  // more.
  std::optional<BufferId> reserve_buffer(std::uint64_t bytes, BufferFor use = BufferFor::kOperation);
  void release_buffer(BufferId buffer);
  bool fits_budget(std::uint64_t bytes) const;
  // Takes over the buffer when kTaken. Delivered once, in order per (source, tag). Applications do not use tags from
  // kFirstReservedTag on: those are the hosts' own, who receive all at once. Applications that do not receive theirs
  // do not hold these up. When the peer is lost or starts again, those that were not received are dropped.
  static constexpr std::uint64_t kFirstReservedTag = std::uint64_t{1} << 63;
  Admission send_message(NodeId to, std::uint64_t tag, PayloadRange payload, Nanoseconds now);
  // Event::kMessage with this cookie when a message with this tag is there. Without one: with any reserved tag, so that
  // a host can read all there are.
  Admission receive_message(std::optional<std::uint64_t> tag, std::uint64_t cookie, Nanoseconds now);
  bool forget_receive(std::uint64_t cookie);  // false: it has been answered already
  void set_path(NodeId peer, const PeerPath& path);

  // -- events in
  // False: it is no frame for this node.
  bool on_datagram(std::span<const std::byte> datagram, Nanoseconds now);
  // ... whose payload lies apart from its head.
  bool on_datagram(std::span<const std::byte> head, std::span<const std::byte> payload, Nanoseconds now);
  // Before that: where the kCopy that comes of it will copy the payload to; kNoBuffer: unknown. Who has put it there
  // already need not copy then. Nothing of it counts before on_datagram().
  PayloadRange place_of(std::span<const std::byte> head, std::size_t payload_bytes) const;
  void on_timer(Nanoseconds now);
  // Its connection broke: what was on its way is sent again, and it is asked whether it is there.
  void on_path_reset(NodeId peer, Nanoseconds now);
  // The peer's address refused a frame (ICMP) or a connection: evidence, not a verdict.
  void on_path_refused(NodeId peer, Nanoseconds now);
  void set_writable(NodeId peer, bool writable);  // false: poll_transmit() passes over this peer

  // -- outputs
  bool poll_event(Event& out);
  bool may_have_event() const;  // false: poll_event() has none, and need not be asked
  // `scratch`: at least kMaxHeadBytes; the frame's head is written there.
  bool poll_transmit(Nanoseconds now, std::span<std::byte> scratch, Transmit& out);

 private:
  NodeState* state_;
};

// Of a group that is created: FNV-1a of the name, with the highest bit set.
GroupId group_id(std::string_view name);
// Of the group of all nodes that exists by its name: it is another one where the cluster's digest is another.
GroupId default_group_id(std::string_view name, std::uint64_t cluster_digest);

}  // namespace fibocast
