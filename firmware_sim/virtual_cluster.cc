#include "firmware_sim/virtual_cluster.h"

#include <cstring>
#include <utility>

#include "collectives/check.h"

namespace fibocast {
namespace {

constexpr Nanoseconds kConnectTime = 10'000'000'000;

NodeSettings settings_of(const ClusterSettings& cluster, NodeId id, Random& random) {
  NodeSettings settings = cluster.node;
  settings.self = id;
  settings.nodes = cluster.nodes;
  settings.incarnation = random.next() | 1;
  if (cluster.adjust) cluster.adjust(settings);
  return settings;
}

}  // namespace

VirtualCluster::VirtualCluster(const ClusterSettings& settings)
    : faults_(settings.faults),
      random_(~settings.seed),
      network_(queue_, settings.network, settings.nodes, settings.seed),
      streams_(queue_, network_, settings.streams, settings.nodes, settings.seed ^ 0x57ea) {
  for (NodeId id = 0; id < settings.nodes; ++id) {
    nodes_.push_back(
        std::make_unique<VirtualNode>(queue_, network_, streams_, settings.limits, settings_of(settings, id, random_)));
    nodes_.back()->set_handler([this, id](const Event& event) { on_event(id, event); });
  }
  for (const Fault& fault : faults_) {
    check(objection(fault, settings.nodes).empty());
    check(settings.streams.used || !is_of_connections(fault.kind));
    fault.begins == 0 ? begin(fault) : queue_.at(fault.begins, [this, &fault] { begin(fault); });
    if (fault.heals != kNever) queue_.at(fault.heals, [this, &fault] { heal(fault); });
  }
}

void VirtualCluster::begin(const Fault& fault) {
  if (is_of_messages(fault.kind)) return network_.begin(fault);
  if (is_of_connections(fault.kind)) return streams_.begin(fault);
  for (const NodeId id : fault.nodes) apply(fault, id, true);
  if (fault_listener_) fault_listener_(fault, true);
}

void VirtualCluster::heal(const Fault& fault) {
  if (is_of_messages(fault.kind)) return network_.heal(fault);
  if (is_of_connections(fault.kind)) return streams_.heal(fault);
  for (const NodeId id : fault.nodes) apply(fault, id, false);
  if (fault_listener_) fault_listener_(fault, false);
}

void VirtualCluster::apply(const Fault& fault, NodeId id, bool begins) {
  VirtualNode& node = *nodes_[id];
  switch (fault.kind) {
    case Fault::Kind::kPause: return begins ? node.pause() : node.resume();
    case Fault::Kind::kCrash:
      if (begins) return node.stop();
      return node.started() ? void() : node.restart(random_.next() | 1);  // up already: crashes may overlap
    case Fault::Kind::kSlow: return node.set_slowness(begins ? fault.time : 0);
    case Fault::Kind::kClockJump: return begins ? node.jump_clock(fault.time) : void();
    default: return;  // of messages
  }
}

void VirtualCluster::start_all() {
  for (auto& node : nodes_) node->start();
}

void VirtualCluster::start_at(NodeId id, Nanoseconds time) {
  queue_.at(time, [this, id] { nodes_[id]->start(); });
}

bool VirtualCluster::run_until(Nanoseconds limit, const std::function<bool()>& done) {
  if (!done) {
    queue_.run_until(limit);
    return false;
  }
  while (!done()) {
    if (queue_.next_time() > limit || queue_.empty()) {
      queue_.run_until(limit);
      return done();
    }
    queue_.run_next();
  }
  return true;
}

bool VirtualCluster::connect_all() {
  return run_until(now() + kConnectTime, [this] {
    for (const auto& node : nodes_)
      if (node->node().connected_peers() + 1 < nodes_.size()) return false;
    return true;
  });
}

Membership VirtualCluster::open(NodeId id, std::string_view name, std::uint32_t participants) {
  Membership m;
  m.admission = nodes_[id]->open_group(name, participants, m.group, m.generation);
  return m;
}

Asked VirtualCluster::create(NodeId id, const GroupDefinition& definition) {
  const std::uint64_t cookie = ++last_cookie_;
  return {nodes_[id]->create_group(definition, cookie), cookie};
}

Asked VirtualCluster::replan(NodeId id, std::string_view name, const Plan& plan) {
  const std::uint64_t cookie = ++last_cookie_;
  return {nodes_[id]->replan_group(name, plan, cookie), cookie};
}

Asked VirtualCluster::call(NodeId id, Call call) {
  call.cookie = ++last_cookie_;
  const std::uint64_t cookie = call.cookie;
  return {nodes_[id]->call(call), cookie};
}

Asked VirtualCluster::barrier(NodeId id, GroupId group, std::optional<Generation> generation, Nanoseconds deadline) {
  Call c;
  c.group = group;
  c.generation = generation;
  c.deadline = deadline;
  return call(id, c);
}

Asked VirtualCluster::call_with(NodeId id, Call c, std::span<const std::byte> bytes) {
  const std::optional<PayloadRange> payload = nodes_[id]->put_payload(bytes);
  if (!payload) return {};
  c.payload = *payload;
  const Asked asked = call(id, c);
  if (asked.admission != Admission::kTaken) nodes_[id]->release(*payload);
  return asked;
}

Asked VirtualCluster::send_multicast(NodeId id, GroupId group, Rank root, std::optional<Generation> generation,
                                     Nanoseconds deadline, std::span<const std::byte> bytes) {
  Call c;
  c.group = group;
  c.operation = Operation::kMulticast;
  c.root = root;
  c.generation = generation;
  c.deadline = deadline;
  return call_with(id, c, bytes);
}

Asked VirtualCluster::receive_multicast(NodeId id, GroupId group, Rank root, std::optional<Generation> generation,
                                        Nanoseconds deadline) {
  Call c;
  c.group = group;
  c.operation = Operation::kMulticast;
  c.root = root;
  c.generation = generation;
  c.deadline = deadline;
  return call(id, c);
}

Admission VirtualCluster::send(NodeId from, NodeId to, std::uint64_t tag, std::span<const std::byte> bytes) {
  const BufferFor use = tag >= Node::kFirstReservedTag ? BufferFor::kHostsMessage : BufferFor::kMessage;
  const std::optional<PayloadRange> payload = nodes_[from]->put_payload(bytes, use);
  if (!payload) return Admission::kWouldBlock;
  const Admission answer = nodes_[from]->send_message(to, tag, *payload);
  if (answer != Admission::kTaken) nodes_[from]->release(*payload);
  return answer;
}

Asked VirtualCluster::receive(NodeId id, std::optional<std::uint64_t> tag) {
  const std::uint64_t cookie = ++last_cookie_;
  return {nodes_[id]->receive_message(tag, cookie), cookie};
}

const Answer* VirtualCluster::answer(std::uint64_t cookie) const {
  const auto at = answers_.find(cookie);
  return at == answers_.end() ? nullptr : &at->second;
}

PayloadRange VirtualCluster::range_of(const Event& event) const {
  if (event.kind == Event::Kind::kMessage) return event.range;
  return event.kind == Event::Kind::kCallDone ? event.done.payload : PayloadRange{};
}

void VirtualCluster::on_event(NodeId id, const Event& event) {
  const PayloadRange range = range_of(event);
  Answer answer{id, now(), event, nodes_[id]->payload(range)};
  answer.event.bytes = {};
  trace_.add(static_cast<std::uint64_t>(now()));
  trace_.add(id * 16 + static_cast<std::uint64_t>(event.kind));
  trace_.add(answer.payload);
  if (event.kind >= Event::Kind::kPeerUp) {
    peer_events_.push_back(std::move(answer));
    return;
  }
  const std::uint64_t cookie = event.kind == Event::Kind::kCallDone ? event.done.cookie : event.cookie;
  trace_.add(cookie);
  trace_.add(static_cast<std::uint64_t>(event.done.verdict));
  if (!keep_payloads_) nodes_[id]->release(range);
  const auto [at, is_new] = answers_.try_emplace(cookie, std::move(answer));
  repeated_answers_ += is_new ? 0 : 1;
  if (listener_) listener_(cookie, at->second);
}

std::uint64_t VirtualCluster::trace() const {
  TraceHash both = trace_;
  both.add(network_.trace());
  return both.value();
}

std::vector<std::byte> pattern(std::uint64_t key, std::size_t size) {
  Random random(key);
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; i += 8) {
    const std::uint64_t word = random.next();
    std::memcpy(bytes.data() + i, &word, size - i < 8 ? size - i : 8);
  }
  return bytes;
}

}  // namespace fibocast
