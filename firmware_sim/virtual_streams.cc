#include "firmware_sim/virtual_streams.h"

#include <algorithm>
#include <utility>

#include "collectives/check.h"

namespace fibocast {
namespace {

// Of tcp_sender.cc and TcpSettings.
constexpr Nanoseconds kSoon = 5 * kMillisecond, kFirstBackoff = 50 * kMillisecond, kLongestBackoff = kSecond;
constexpr Nanoseconds kDialPatience = 2 * kSecond;
// Of Linux: who dials and hears nothing asks again then.
constexpr Nanoseconds kDialAgain = kSecond;

}  // namespace

VirtualStreams::VirtualStreams(EventQueue& queue, VirtualNetwork& network, const StreamSettings& settings,
                               std::uint32_t nodes, std::uint64_t seed)
    : queue_(queue),
      network_(network),
      settings_(settings),
      random_(seed),
      hosts_(nodes),
      senders_(settings.used ? std::size_t{nodes} * nodes : 0) {}

void VirtualStreams::listen(NodeId node, Process process) {
  Host& h = hosts_[node];
  h.process = std::move(process);
  h.up = true, h.stopped = false;
  ++h.life;
}

void VirtualStreams::end(NodeId node) {
  Host& h = hosts_[node];
  if (!std::exchange(h.up, false)) return;
  for (NodeId peer = 0; peer < hosts_.size(); ++peer) forget(node, peer);
  for (const auto& connection : std::exchange(h.connections, {})) connection->close();
}

void VirtualStreams::stop(NodeId node) { hosts_[node].stopped = true; }

void VirtualStreams::go_on(NodeId node) {
  Host& h = hosts_[node];
  if (!std::exchange(h.stopped, false) || !h.up) return;
  for (NodeId peer = 0; peer < hosts_.size(); ++peer) wake(node, peer);
  if (!h.connections.empty()) h.turn = random_.below(h.connections.size());
  read(node);
}

void VirtualStreams::set_slowness(NodeId node, Nanoseconds late) {
  hosts_[node].slowness = late;
  read(node);
}

// -- what one node sends to another

bool VirtualStreams::full(const Sender& s) const {
  return s.queue.size() >= settings_.queue_frames || s.queued_bytes >= settings_.queue_bytes;
}

bool VirtualStreams::send(NodeId from, NodeId to, Frame frame) {
  Sender& s = sender(from, to);
  check(hosts_[from].up && !full(s));
  if (!network_.admit(from, to, frame)) return true;
  if (s.state == State::kIdle) dial(from, to);
  s.queued_bytes += frame.size();
  s.queue.push_back(std::move(frame));
  flush(from, to);
  s.blocked = full(s);
  return !s.blocked;
}

void VirtualStreams::dial(NodeId from, NodeId to) {
  Sender& s = sender(from, to);
  s.state = State::kDialling;
  const std::uint64_t attempt = ++s.attempt;
  queue_.at(queue_.now() + network_.way(from, to), [this, from, to, attempt] { on_dial(from, to, attempt); });
  queue_.at(queue_.now() + kDialPatience, [this, from, to, attempt] {
    const Sender& late = sender(from, to);
    if (late.attempt == attempt && late.state == State::kDialling) on_end(from, to, false);
  });
}

// At the host that is dialled: its kernel answers, whether the process is scheduled or not.
void VirtualStreams::on_dial(NodeId from, NodeId to, std::uint64_t attempt) {
  const Sender& s = sender(from, to);
  if (s.attempt != attempt || s.state != State::kDialling) return;
  const bool passes = !is_cut(from, to) && !is_cut(to, from);
  if (!passes) return queue_.at(queue_.now() + kDialAgain, [this, from, to, attempt] { on_dial(from, to, attempt); });
  const std::uint64_t life = hosts_[to].up ? hosts_[to].life : 0;
  queue_.at(queue_.now() + network_.way(to, from),
            [this, from, to, attempt, life] { on_dialled(from, to, attempt, life); });
}

void VirtualStreams::on_dialled(NodeId from, NodeId to, std::uint64_t attempt, std::uint64_t life) {
  Sender& s = sender(from, to);
  if (s.attempt != attempt || s.state != State::kDialling) return;
  if (life == 0) return on_end(from, to, true);
  s.connection = connect(from, to);
  const Host& h = hosts_[to];
  if (!h.up || h.life != life) return s.connection->close();  // which accepted and is gone
  hosts_[to].connections.push_back(s.connection);
  if (awake(from)) flush(from, to);
}

std::shared_ptr<VirtualConnection> VirtualStreams::connect(NodeId from, NodeId to) {
  Sender& s = sender(from, to);
  s.state = State::kConnected;
  s.backoff = 0;
  const VirtualConnection::Way way{
      .time = [this, from, to](bool back) { return back ? network_.way(to, from) : network_.way(from, to); },
      .is_cut = [this, from, to](bool back) { return back ? is_cut(to, from) : is_cut(from, to); }};
  const VirtualConnection::Sender events{.on_room = [this, from, to] { wake(from, to); },
                                         .on_end = [this, from, to] { on_end(from, to, false); }};
  return std::make_shared<VirtualConnection>(queue_, way, settings_.held_bytes, events, [this, to] { read(to); });
}

void VirtualStreams::flush(NodeId from, NodeId to) {
  Sender& s = sender(from, to);
  if (s.state != State::kConnected) return;
  for (; !s.queue.empty() && s.connection->has_room(); s.queue.pop_front()) {
    s.queued_bytes -= s.queue.front().size();
    s.connection->put(std::move(s.queue.front()));
  }
  if (!s.queue.empty()) s.connection->wait_for_room();
  unblock(from, to);
}

void VirtualStreams::unblock(NodeId from, NodeId to) {
  Sender& s = sender(from, to);
  if (!full(s) && std::exchange(s.blocked, false)) hosts_[from].process.on_writable(to);
}

// A process that is not scheduled hears of it when it is.
void VirtualStreams::on_end(NodeId from, NodeId to, bool refused) {
  Sender& s = sender(from, to);
  const bool was_connected = s.state == State::kConnected;
  s.connection.reset();
  s.state = State::kWaiting;
  ++s.attempt;
  if (awake(from)) return fail(from, to, was_connected, refused);
  s.failed_as = refused;
  s.was_connected = was_connected;
}

// What is queued is lost; the next dial waits.
void VirtualStreams::fail(NodeId from, NodeId to, bool was_connected, bool refused) {
  Sender& s = sender(from, to);
  s.queue.clear();
  s.queued_bytes = 0;
  s.backoff = std::max(s.backoff, kFirstBackoff);
  s.again_at = queue_.now() + (was_connected ? kSoon : s.backoff);
  if (!was_connected) s.backoff = std::min(2 * s.backoff, kLongestBackoff);
  queue_.at(s.again_at, [this, from, to, attempt = s.attempt] {
    if (sender(from, to).attempt == attempt && awake(from)) try_again(from, to);
  });
  if (was_connected) hosts_[from].process.on_reset(to);
  if (refused) hosts_[from].process.on_refused(to);
  unblock(from, to);
}

void VirtualStreams::try_again(NodeId from, NodeId to) {
  Sender& s = sender(from, to);
  if (s.state != State::kWaiting || queue_.now() < s.again_at) return;
  s.state = State::kIdle;
  if (!s.queue.empty()) dial(from, to);
}

// Something may have happened to what it sends.
void VirtualStreams::wake(NodeId from, NodeId to) {
  if (!awake(from)) return;
  Sender& s = sender(from, to);
  if (s.failed_as) return fail(from, to, s.was_connected, *std::exchange(s.failed_as, std::nullopt));
  try_again(from, to);
  flush(from, to);
}

// The sender's process ends.
void VirtualStreams::forget(NodeId from, NodeId to) {
  Sender& s = sender(from, to);
  if (s.connection) s.connection->let_go();
  const std::uint64_t attempt = s.attempt + 1;
  s = {};
  s.attempt = attempt;
}

// -- what a node reads

Nanoseconds VirtualStreams::time_to_read(NodeId node) const {
  Nanoseconds time = 0;
  for (const Fault* fault : faults_)
    if (fault->kind == Fault::Kind::kThrottle && concerns(*fault, node)) time = std::max(time, fault->time);
  return time;
}

// In turns, one frame each.
VirtualConnection* VirtualStreams::next_to_read(Host& host) {
  std::erase_if(host.connections, [](const auto& connection) { return connection->is_over(); });
  for (std::size_t left = host.connections.size(); left > 0; --left) {
    VirtualConnection& connection = *host.connections[host.turn++ % host.connections.size()];
    if (const auto came_at = connection.next_came_at(); came_at && *came_at + host.slowness <= queue_.now())
      return &connection;
  }
  return nullptr;
}

void VirtualStreams::read(NodeId node) {
  Host& h = hosts_[node];
  if (!awake(node) || std::exchange(h.reading, true)) return;
  while (h.next_read <= queue_.now()) {
    VirtualConnection* connection = next_to_read(h);
    if (connection == nullptr) break;
    const Frame frame = connection->take();
    h.next_read = queue_.now() + time_to_read(node);
    network_.deliver(node, frame);
  }
  h.reading = false;
  read_later(node);
}

// One alarm: it looks again, and is set again.
void VirtualStreams::read_later(NodeId node) {
  Host& h = hosts_[node];
  Nanoseconds time = kNever;
  for (const auto& connection : h.connections)
    if (const auto came_at = connection->next_came_at())
      time = std::min(time, std::max(*came_at + h.slowness, h.next_read));
  if (time >= h.alarm) return;
  h.alarm = time;
  queue_.at(time, [this, node, time] {
    if (hosts_[node].alarm == time) hosts_[node].alarm = kNever;
    read(node);
  });
}

// -- faults of connections

bool VirtualStreams::is_cut(NodeId from, NodeId to) const {
  return network_.cut(from, to) || std::ranges::any_of(faults_, [&](const Fault* fault) {
           return fault->kind == Fault::Kind::kStall && concerns(*fault, from) && concerns(*fault, to);
         });
}

void VirtualStreams::begin(const Fault& fault) {
  if (fault.kind != Fault::Kind::kReset) return faults_.push_back(&fault);
  for (NodeId from = 0; from < hosts_.size(); ++from)
    for (NodeId to = 0; to < hosts_.size(); ++to)
      if (from != to && (concerns(fault, from) || concerns(fault, to))) reset(fault, from, to);
}

void VirtualStreams::heal(const Fault& fault) {
  std::erase(faults_, &fault);
  for (NodeId node = 0; node < hosts_.size(); ++node) read(node);
}

// What has come there can be read, or not.
void VirtualStreams::reset(const Fault& fault, NodeId from, NodeId to) {
  if (!random_.chance(fault.probability)) return;
  const bool keeps = random_.chance(0.5);
  const std::shared_ptr<VirtualConnection> connection = sender(from, to).connection;
  if (connection) return connection->cut(keeps);
  if (sender(from, to).state == State::kDialling) on_end(from, to, false);
}

}  // namespace fibocast
