// What an application holds in its hands: a participant (a Client, which talks to the daemon of this host, or an
// EmbeddedNode, which is a node in this process), the groups it opens, and the results of operations.
//
// Every call exists twice. The blocking form returns when the operation has ended, at the latest at its deadline plus
// one suspicion time for each silent member. The form async_... takes an Asio completion token and runs the handler on
// the participant's executor. No call throws; each one ends with a Status.
//
// Deadlines are durations from now; zero means the node's default (settings: operations.default_deadline_ms, 30 s).
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "collectives/plan.h"
#include "collectives/shape.h"
#include "collectives/types.h"
#include "runtime/client/completion.h"
#include "runtime/client/node_model.h"
#include "runtime/client/status.h"
#include "runtime/node/straggler.h"

namespace fibocast {

using Duration = std::chrono::nanoseconds;

// How an operation of a group ended here. Times are CLOCK_MONOTONIC of the node's host, 0 where not known.
struct Outcome {
  Status status;
  Generation generation = 0;
  std::vector<std::byte> payload;  // what this rank gets: see the operations of Group
  bool in_place = false;           // ... or it is where the caller wanted it
  Nanoseconds arrived_at = 0;      // when the last local participant had called
  Nanoseconds activated_at = 0;    // when the last message this rank waited for was in
  Nanoseconds first_send_at = 0;   // begin of this rank's first send; 0 if it sent nothing
  Nanoseconds lateness = 0;        // emulated NIC: largest wake-up delay of this operation at this node
  // A barrier that is ok: the rank of the group that came last, and by how much. kNoRank: not known, because the group
  // has one rank only or the barrier was released by a verdict, after messages had been lost with a node.
  Straggler straggler;

  bool ok() const { return status.ok(); }
  // The payload as elements. Precondition: it holds whole ones.
  template <class T>
  std::vector<T> values() const {
    std::vector<T> out(payload.size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), payload.data(), out.size() * sizeof(T));
    return out;
  }
};

// How a reduction or a conquer combines: element by element.
struct Combination {
  ElementType type = ElementType::kBytes;
  CombineOperator op = CombineOperator::kNone;
};

// The element type of T: int32_t, int64_t, uint64_t, float, double.
template <class T>
constexpr ElementType element_type_of() {
  if constexpr (std::is_same_v<T, std::int32_t>)
    return ElementType::kInt32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return ElementType::kInt64;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return ElementType::kUint64;
  else if constexpr (std::is_same_v<T, float>)
    return ElementType::kFloat;
  else {
    static_assert(std::is_same_v<T, double>, "elements are int32_t, int64_t, uint64_t, float or double");
    return ElementType::kDouble;
  }
}

// An operator of the application's own: combines `right` into `left`, which are whole vectors of equal length. It must
// be associative; it need not commute. It runs in the application, in the order of the ranks, so every rank gets the
// same bits. Called in the thread of the operation.
using Combine = std::function<void(std::span<std::byte> left, std::span<const std::byte> right)>;

// An application message, and how the wait for it ended.
struct Received {
  Status status;
  Rank from = kNoRank;
  std::vector<std::byte> bytes;

  bool ok() const { return status.ok(); }
};

// What few callers need to say about an operation.
struct OperationOptions {
  std::string label;           // appears in the sentences of failures
  bool charged = true;         // false: an emulated NIC lets this operation pass free
  Nanoseconds not_before = 0;  // absolute, CLOCK_MONOTONIC: this participant counts as arrived only then
  // A name of `fibocast plan schedule`, as ring, fibo, kary:4, share:0.5; the same at every rank (of multicast, scatter
  // and divide: at the root). Empty: what the group plans.
  std::string algorithm = {};
};

// A default argument that is no temporary: compilers disagree on how long one lives in a co_await expression.
inline const OperationOptions kPlainOperation;

// One operation, in full: what Group hands to its participant. The bytes must stay valid until the operation ends.
struct OperationCall {
  std::string_view group = {};
  Operation operation = Operation::kBarrier;
  Rank root = 0;
  std::span<const std::byte> payload = {};
  Duration deadline{0};
  const OperationOptions* options = nullptr;  // null: the defaults; read before the call returns
  std::uint32_t participants = 0;
  Rank ranks = 0;  // of the group
  Combination combination = {};
  AlgorithmChoice choice = {};     // of options->algorithm: filled in by Participant
  std::uint64_t total_bytes = 0;   // conquer: of the root's vector
  Rank rank = 0;                   // of the caller in the group
  Rank routers = 0;                // of the group, beside its ranks
  std::span<std::byte> into = {};  // a result of this length is put there; of any other, Outcome::payload has it
};

struct SendCall {
  Rank to = 0;
  std::uint64_t tag = 0;
  std::span<const std::byte> bytes;
  Duration deadline{0};
  bool try_only = false;
};

struct GroupInfo {
  std::string name;
  Rank rank = kNoRank;             // of this node in the group
  Rank size = 0;                   // with participants: all but the routers, which have the ranks after them
  Rank routers = 0;                // nodes that only pass on what a flooding brings
  std::uint32_t participants = 1;  // local ones at each node
  Generation next_generation = 0;
  std::vector<NodeId> nodes;  // in the order of ranks
  std::string policy = "all";
  Epoch epoch = 0;       // numbers the lists of members that go on
  Rank live = 0;         // how many go on now
  bool outside = false;  // this node is not one of them, or cannot reach them
  // Of Participant::status(): who came last to barriers as this node was told, the largest `total` first; at most
  // Limits::slowest_ranks (16).
  std::vector<SlowRank> slowest;
};

// Any tree of a group's ranks: made for different nodes, read from a file, drawn by hand. An operation whose root is
// not the tree's goes along the same tree turned: rank v takes the place of rank v - root + the tree's root (mod size).
// So do barrier and allreduce, which begin at rank 0. Scatter and gather go along a binomial tree instead.
struct GivenTree {
  std::vector<Rank> parents;  // of each rank; kNoRank: the root, of which there is one
  std::vector<Rank> order;    // parents send to their children as they appear here; empty: ascending
};

// A group to be created: once, by one of its members; the others learn it from the network.
struct GroupRequest {
  std::string name;  // at most 47 bytes
  std::vector<NodeId> nodes;
  std::uint32_t participants = 1;
  std::optional<TreeSpec> reduction = {};  // none: the node's own plan
  std::optional<TreeSpec> distribution = {};
  std::uint32_t segment_bytes = 0;  // 0: the node's own plan
  Rank routers = 0;                 // so many of the last nodes have no participants
  // What becomes of it when members are lost: "all", every operation ends with kPeerLost until they are back;
  // "survivors", the others go on as long as they are a majority of those before; "quorum:K", and at least K, which is
  // more than half. Groups that go on have no routers, at most 1600 members and no emulated NIC, and use trees for all
  // operations; their data operations are among the members that go on, in the order of ranks.
  std::string policy = {};
  std::optional<GivenTree> tree = {};  // of the way up, the way down, or both: where no formula is named above
  // One of this name that has these nodes, participants, routers and policy is as good, whatever its trees: so may all
  // members ask for it at a time.
  bool if_missing = false;
};

struct PeerInfo {
  NodeId rank = kNoNode;
  std::string address;
  std::string state;  // connected, connecting, lost, refused, closed
  std::uint64_t frames_sent = 0, frames_received = 0, resends = 0, bare_acks = 0, duplicates = 0, restarts = 0;
  Nanoseconds round_trip = 0;
};

// What the node knows of itself.
struct NodeInfo {
  NodeId rank = 0;
  std::uint32_t size = 0;
  std::string cluster, transport, version;
  std::uint32_t connected = 0;  // peers, this node not counted
  std::vector<PeerInfo> peers;
  std::vector<GroupInfo> groups;
  std::map<std::string, std::uint64_t> counters;
  std::int64_t pid = 0;
  std::uint64_t payload_bytes_used = 0;
  std::uint64_t clients = 0;
  std::string security;           // for people: how its frames are protected
  std::vector<std::string> keys;  // names of its keys, the primary first; none: frames are not sealed
  std::string metrics;            // host:port of its metrics and status page; empty: off
  std::string address;            // its own in the cluster's list, host:port
  NodeModel model;                // what groups are planned by
};

class Group;

// Thread rule: one call at a time per participant (a Client), unless the subclass allows more (EmbeddedNode does).
class Participant : public std::enable_shared_from_this<Participant> {
 public:
  virtual ~Participant() = default;

  // -- queries
  virtual NodeId rank() const = 0;         // of the node in its cluster
  virtual std::uint32_t size() const = 0;  // nodes in the cluster
  virtual boost::asio::any_io_executor executor() = 0;
  virtual Result<NodeInfo> status() = 0;

  // -- groups
  // Becomes a participant of this group, which from now on numbers its own operations: every participant makes the
  // same calls in the same order (group.h says which count). `all` and every name nobody has created is the group of
  // all nodes. `participants`: local ones at each node; 0: whatever the group has, or 1.
  Result<Group> open(std::string_view name, std::uint32_t participants = 0);
  // The group without a number of one's own: each operation joins the generation that is open at that time.
  // For callers that come and go, as the shell commands do. kInvalid if this node is not a member.
  Result<Group> join(std::string_view name, std::uint32_t participants = 0);
  // Returns when all members have the group; kRefused with the ranks that refuse it. With `if_missing` it is tried
  // again, for up to 10 s, where others were about to make it.
  Status create_group(const GroupRequest& request);
  // A new plan for a group that somebody created, by its name, trees and segment_bytes in `request`; nothing else in it
  // counts. Its operations go on: each is by the former plan or by the new one at all members. Asked at a member.
  // Returns when all members have it; kRefused with the ranks that could not be reached, or have no room for its trees,
  // after 30 s: then all keep the former one.
  virtual Status plan_group(const GroupRequest& request) = 0;
  // End its Groups first: afterwards the name, and so they, stand for all nodes.
  virtual Status remove_group(std::string_view name) = 0;

  // -- messages: delivered exactly once, per (sender, tag) in the order of send(); `to` is a node of the cluster
  // Waits only for room in the node's budget, never for the peer.
  Status send(NodeId to, std::uint64_t tag, std::span<const std::byte> bytes, Duration deadline = {}) {
    return do_send({to, tag, bytes, deadline, false});
  }
  // kWouldBlock instead of waiting for room.
  Status try_send(NodeId to, std::uint64_t tag, std::span<const std::byte> bytes) {
    return do_send({to, tag, bytes, {}, true});
  }
  Received receive(std::uint64_t tag, Duration deadline = {}) { return do_receive(tag, deadline); }

  // Handlers take (Status) and (Received). The bytes are copied before async_send returns.
  template <class Token>
  auto async_send(NodeId to, std::uint64_t tag, std::span<const std::byte> bytes, Duration deadline, Token&& token);
  template <class Token>
  auto async_receive(std::uint64_t tag, Duration deadline, Token&& token);

  // -- for Group: one operation, blocking and started. What cannot be is refused here, with a sentence.
  Outcome operate(OperationCall call);
  void start(OperationCall call, Completion<Outcome> done);

 protected:
  virtual Outcome do_operate(const OperationCall& call) = 0;
  virtual void start_operate(const OperationCall& call, Completion<Outcome> done) = 0;
  virtual Status do_create_group(const GroupRequest& request) = 0;
  virtual Result<GroupInfo> do_open(std::string_view name, std::uint32_t participants) = 0;
  virtual Status do_send(const SendCall& call) = 0;
  virtual void start_send(const SendCall& call, Completion<Status> done) = 0;
  virtual Received do_receive(std::uint64_t tag, Duration deadline) = 0;
  virtual void start_receive(std::uint64_t tag, Duration deadline, Completion<Received> done) = 0;
};

template <class Token>
auto Participant::async_send(NodeId to, std::uint64_t tag, std::span<const std::byte> bytes, Duration deadline,
                             Token&& token) {
  return boost::asio::async_initiate<Token, void(Status)>(
      [self = shared_from_this()](auto handler, SendCall call) {
        self->start_send(call, Completion<Status>(std::move(handler), self->executor()));
      },
      token, SendCall{to, tag, bytes, deadline, false});
}

template <class Token>
auto Participant::async_receive(std::uint64_t tag, Duration deadline, Token&& token) {
  return boost::asio::async_initiate<Token, void(Received)>(
      [self = shared_from_this()](auto handler, std::uint64_t t, Duration d) {
        self->start_receive(t, d, Completion<Received>(std::move(handler), self->executor()));
      },
      token, tag, deadline);
}

}  // namespace fibocast
