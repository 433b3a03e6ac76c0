// A cluster in virtual time, as tests and the swarm see it: N nodes on one network and one clock, calls that are made
// at chosen instants, and every answer kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "firmware_sim/event_queue.h"
#include "firmware_sim/fault.h"
#include "firmware_sim/random.h"
#include "firmware_sim/virtual_network.h"
#include "firmware_sim/virtual_node.h"
#include "firmware_sim/virtual_streams.h"

namespace fibocast {

struct ClusterSettings {
  std::uint32_t nodes = 1;
  Limits limits = Limits::simulated();
  NodeSettings node;  // of every node; self, nodes and incarnation are filled in
  NetworkSettings network;
  StreamSettings streams;
  std::vector<Fault> faults;
  std::uint64_t seed = 1;
  std::function<void(NodeSettings&)> adjust;  // called for each node: how it differs from the others
};

// A participant's place in a group: what open_group() answered.
struct Membership {
  Admission admission = Admission::kUnknownGroup;
  GroupId group = 0;
  Generation generation = 0;
};

// What became of a command. `cookie` finds the answer later; it is unique in the cluster.
struct Asked {
  Admission admission = Admission::kWouldBlock;
  std::uint64_t cookie = 0;
};

struct Answer {
  NodeId node = 0;
  Nanoseconds at = 0;
  Event event;                     // kCallDone, kMessage or kGroupReady; its `bytes` mean nothing any more
  std::vector<std::byte> payload;  // a copy of what came
};

class VirtualCluster {
 public:
  explicit VirtualCluster(const ClusterSettings& settings);

  EventQueue& queue() { return queue_; }
  VirtualNetwork& network() { return network_; }
  VirtualStreams& streams() { return streams_; }
  VirtualNode& node(NodeId id) { return *nodes_[id]; }
  const VirtualNode& node(NodeId id) const { return *nodes_[id]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  Nanoseconds now() const { return queue_.now(); }

  void start_all();
  void start_at(NodeId id, Nanoseconds time);
  // Told of each fault of a node right after it began (true) or healed (false). A crash at first undoes nothing of what
  // is scheduled: the answers to its calls just never come.
  void set_fault_listener(std::function<void(const Fault& fault, bool begins)> listener) {
    fault_listener_ = std::move(listener);
  }
  // From now on, until heal() or for ever. The fault must live as long as the cluster.
  void begin(const Fault& fault);
  void heal(const Fault& fault);
  void at(Nanoseconds time, EventQueue::Action action) { queue_.at(time, std::move(action)); }
  // Lets virtual time pass up to `limit`, or until `done` holds (asked after every action). True: `done` holds.
  bool run_until(Nanoseconds limit, const std::function<bool()>& done = nullptr);
  // Runs until every node that was started is connected to every other one. False: not within 10 s.
  bool connect_all();

  Membership open(NodeId id, std::string_view name, std::uint32_t participants = 0);
  Asked create(NodeId id, const GroupDefinition& definition);
  Asked replan(NodeId id, std::string_view name, const Plan& plan);
  // The cookie in `call` is overwritten.
  Asked call(NodeId id, Call call);
  Asked barrier(NodeId id, GroupId group, std::optional<Generation> generation, Nanoseconds deadline);
  // ... which brings these bytes: they are copied.
  Asked call_with(NodeId id, Call call, std::span<const std::byte> bytes);
  // The sender's call; `bytes` are copied. The others receive with receive_multicast().
  Asked send_multicast(NodeId id, GroupId group, Rank root, std::optional<Generation> generation, Nanoseconds deadline,
                       std::span<const std::byte> bytes);
  Asked receive_multicast(NodeId id, GroupId group, Rank root, std::optional<Generation> generation,
                          Nanoseconds deadline);
  Admission send(NodeId from, NodeId to, std::uint64_t tag, std::span<const std::byte> bytes);
  Asked receive(NodeId id, std::optional<std::uint64_t> tag);

  // Null while it has not come. Answers stay where they are.
  const Answer* answer(std::uint64_t cookie) const;
  // The answer stays, its bytes go: memory of long runs. Precondition: answered.
  void forget_payload(std::uint64_t cookie) { answers_.at(cookie).payload = {}; }
  std::uint64_t answers() const { return answers_.size(); }
  std::uint64_t repeated_answers() const { return repeated_answers_; }
  // Payloads that arrive are released at once, unless the application is slow: then the test releases them.
  void keep_payloads(bool keep) { keep_payloads_ = keep; }
  // Told of each answer after it was stored.
  void set_listener(std::function<void(std::uint64_t cookie, const Answer& answer)> listener) {
    listener_ = std::move(listener);
  }
  // Events without a cookie (peers coming and going), in order.
  const std::vector<Answer>& peer_events() const { return peer_events_; }
  // Of everything that was delivered and answered so far.
  std::uint64_t trace() const;

 private:
  void apply(const Fault& fault, NodeId id, bool begins);
  void on_event(NodeId id, const Event& event);
  PayloadRange range_of(const Event& event) const;

  std::vector<Fault> faults_;
  Random random_;
  EventQueue queue_;
  VirtualNetwork network_;
  VirtualStreams streams_;
  std::vector<std::unique_ptr<VirtualNode>> nodes_;
  std::map<std::uint64_t, Answer> answers_;
  std::vector<Answer> peer_events_;
  std::function<void(std::uint64_t, const Answer&)> listener_;
  std::function<void(const Fault&, bool)> fault_listener_;
  TraceHash trace_;
  std::uint64_t last_cookie_ = 0;
  std::uint64_t repeated_answers_ = 0;
  bool keep_payloads_ = false;
};

// Bytes that tell where they belong: different for each key and at each position.
std::vector<std::byte> pattern(std::uint64_t key, std::size_t size);

}  // namespace fibocast
