#include "firmware_sim/virtual_node.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "collectives/check.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

constexpr std::uint32_t kMostDirtyNodes = 64;
constexpr std::byte kSpoilt{0xdd};

// Not zeroed: a node must not depend on what its memory held before. Among thousands of nodes it is left as it comes,
// and only what they touch is ever mapped.
KeptMemory dirty_memory(std::size_t bytes, std::uint32_t nodes) {
  KeptMemory memory = take_memory(bytes);
  if (nodes <= kMostDirtyNodes) std::memset(memory.get(), 0xa5, bytes);
  return memory;
}

std::uint64_t large_part(std::uint64_t bytes) { return bytes >= VirtualNode::kLargeBuffer ? bytes : 0; }

}  // namespace

VirtualNode::VirtualNode(EventQueue& queue, VirtualNetwork& network, VirtualStreams& streams, const Limits& limits,
                         const NodeSettings& settings)
    : queue_(queue), network_(network), streams_(streams), self_(settings.self), limits_(limits), settings_(settings) {
  make_node();
}

VirtualNode::~VirtualNode() {
  network_.set_receiver(self_, nullptr);
  network_.set_refused(self_, nullptr);
}

void VirtualNode::make_node() {
  const std::size_t bytes = Node::bytes_needed(limits_);
  node_.reset();
  arena_ = dirty_memory(bytes, settings_.nodes);
  node_ = std::make_unique<Node>(limits_, settings_, std::span(arena_.get(), bytes));
}

void VirtualNode::listen() {
  if (over_streams()) return listen_to_streams();
  network_.set_receiver(self_, [this](std::span<const std::byte> datagram) { on_datagram(datagram); });
  network_.set_refused(self_, [this](NodeId peer) {
    if (!running()) return;
    node_->on_path_refused(peer, clock());
    pump();
  });
}

// They call only who is running, and keep what comes for who is not.
void VirtualNode::listen_to_streams() {
  network_.set_receiver(self_, [this](std::span<const std::byte> frame) { hear(frame); });
  VirtualStreams::Process process;
  process.on_writable = [this](NodeId peer) { set_writable(peer, true); };
  process.on_reset = [this](NodeId peer) {
    node_->on_path_reset(peer, clock());
    pump();
  };
  process.on_refused = [this](NodeId peer) {
    node_->on_path_refused(peer, clock());
    pump();
  };
  streams_.listen(self_, std::move(process));
}

void VirtualNode::start() {
  if (started_) return;
  started_ = true;
  listen();
  node_->start(clock());
  pump();
}

void VirtualNode::stop() {
  started_ = paused_ = false;
  backlog_.clear(), came_up_.clear();
  streams_.end(self_);
  network_.set_receiver(self_, nullptr);
  network_.set_refused(self_, nullptr);
}

void VirtualNode::restart(std::uint64_t incarnation) {
  check(!started_);
  settings_.incarnation = incarnation;
  buffers_.clear(), lent_.clear();
  large_bytes_ = 0;
  make_node();
  start();
}

void VirtualNode::pause() {
  paused_ = started_;
  if (paused_) streams_.stop(self_);
}

// Timers that are overdue come before what waits in the socket: the order in which a node may err most.
void VirtualNode::resume() {
  if (!paused_) return;
  paused_ = false;
  run_timer();
  std::deque<std::vector<std::byte>> waited;
  waited.swap(backlog_);
  for (const std::vector<std::byte>& datagram : waited) hear(datagram);
  pump();
  streams_.go_on(self_);
}

void VirtualNode::set_slowness(Nanoseconds late) {
  slowness_ = late;
  streams_.set_slowness(self_, late);
}

void VirtualNode::jump_clock(Nanoseconds forward) {
  ahead_ += forward;
  if (running()) run_timer();
}

void VirtualNode::leave() {
  node_->leave(clock());
  pump();
}

void VirtualNode::adopt_cluster(std::uint32_t nodes, std::uint64_t digest) {
  settings_.nodes = nodes, settings_.cluster_digest = digest;
  if (!started_) return make_node();
  node_->adopt_cluster(nodes, digest, settings_.plan, clock());
  pump();
}

Admission VirtualNode::open_group(std::string_view name, std::uint32_t participants, GroupId& id,
                                  Generation& generation) {
  const Admission answer = node_->open_group(name, participants, id, generation);
  pump();
  return answer;
}

Admission VirtualNode::create_group(const GroupDefinition& definition, std::uint64_t cookie) {
  const Admission answer = node_->create_group(definition, cookie, clock());
  pump();
  return answer;
}

Admission VirtualNode::replan_group(std::string_view name, const Plan& plan, std::uint64_t cookie) {
  const Admission answer = node_->replan_group(name, plan, cookie, clock());
  pump();
  return answer;
}

Admission VirtualNode::remove_group(std::string_view name) {
  const Admission answer = node_->remove_group(name, clock());
  pump();
  return answer;
}

Admission VirtualNode::call(const Call& call) {
  Call here = call;
  here.has_place = true;
  if (here.deadline != kNever) here.deadline += ahead_;
  if (here.not_before != 0) here.not_before += ahead_;
  const Admission answer = node_->call(here, clock());
  pump();
  return answer;
}

Admission VirtualNode::pass(const Call& call) {
  const Admission answer = node_->pass(call, clock());
  pump();
  return answer;
}

void VirtualNode::forget_call(std::uint64_t cookie) {
  node_->forget_call(cookie);
  pump();
}

void VirtualNode::abandon_call(std::uint64_t cookie, std::string_view label, std::uint32_t newest_client) {
  node_->abandon_call(cookie, label, newest_client, clock());
  pump();
}

Admission VirtualNode::send_message(NodeId to, std::uint64_t tag, PayloadRange payload) {
  const Admission answer = node_->send_message(to, tag, payload, clock());
  pump();
  return answer;
}

Admission VirtualNode::receive_message(std::optional<std::uint64_t> tag, std::uint64_t cookie) {
  const Admission answer = node_->receive_message(tag, cookie, clock());
  pump();
  return answer;
}

bool VirtualNode::forget_receive(std::uint64_t cookie) {
  const bool forgotten = node_->forget_receive(cookie);
  pump();
  return forgotten;
}

void VirtualNode::set_writable(NodeId peer, bool writable) {
  node_->set_writable(peer, writable);
  pump();
}

std::optional<PayloadRange> VirtualNode::put_payload(std::span<const std::byte> bytes, BufferFor use) {
  const std::optional<BufferId> id = node_->reserve_buffer(bytes.size(), use);
  if (!id) return std::nullopt;
  std::copy(bytes.begin(), bytes.end(), buffer(*id).begin());
  return PayloadRange{*id, 0, bytes.size()};
}

std::vector<std::byte> VirtualNode::payload(const PayloadRange& range) const {
  if (range.buffer == kNoBuffer || range.length == 0) return {};
  const std::vector<std::byte>& bytes = buffers_.at(range.buffer);
  check(range.offset + range.length <= bytes.size());
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(range.offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(range.length)};
}

void VirtualNode::release(const PayloadRange& range) {
  if (range.buffer == kNoBuffer) return;
  node_->release_buffer(range.buffer);
  pump();
}

void VirtualNode::on_datagram(std::span<const std::byte> datagram) {
  if (slowness_ == 0) return hear(datagram);
  queue_.at(queue_.now() + slowness_,
            [this, bytes = std::vector<std::byte>(datagram.begin(), datagram.end())] { hear(bytes); });
}

void VirtualNode::hear(std::span<const std::byte> datagram) {
  if (!started_) return;
  if (paused_) {
    if (backlog_.size() < kSocketBuffer) backlog_.emplace_back(datagram.begin(), datagram.end());
    return;
  }
  spoil_place_of(datagram);
  node_->on_datagram(datagram, clock());
  pump();
}

// Another host has the payload already there, or what was lost of it: nobody may rely on what was there before.
void VirtualNode::spoil_place_of(std::span<const std::byte> datagram) {
  const std::optional<Frame> frame = decode_frame(datagram);
  if (!frame || frame->payload.empty()) return;
  spoil(node_->place_of(datagram.first(datagram.size() - frame->payload.size()), frame->payload.size()));
}

void VirtualNode::spoil(const PayloadRange& range) {
  if (range.buffer == kNoBuffer) return;
  const std::span<std::byte> bytes(buffer(range.buffer));
  check(range.offset + range.length <= bytes.size());
  std::ranges::fill(bytes.subspan(range.offset, range.length), kSpoilt);
}

// A handler's own calls come back here while the loop below runs: it will see what they caused.
void VirtualNode::pump() {
  if (pumping_) return;
  pumping_ = true;
  most_payload_bytes_ = std::max(most_payload_bytes_, node_->payload_bytes_used());
  most_buffers_ = std::max<std::uint64_t>(most_buffers_, buffers_.size());
  while (pump_once()) {
  }
  set_paths();
  most_large_bytes_ = std::max(most_large_bytes_, large_bytes_);  // now, when all that is free was given back
  pumping_ = false;
  if (running()) schedule_timer();
}

// Events first: a frame may carry bytes that an event asks to be copied.
bool VirtualNode::pump_once() {
  bool busy = false;
  for (Event event; node_->poll_event(event); busy = true) on_event(event);
  if (!started_) return busy;
  std::array<std::byte, kMaxHeadBytes> scratch;
  for (Transmit frame; node_->poll_transmit(clock(), scratch, frame); busy = true) transmit(frame);
  return busy || node_->has_work();
}

// After the frames that were there, as NodeHost does.
void VirtualNode::set_paths() {
  while (!came_up_.empty()) {
    const StreamSettings& s = streams_.settings();
    for (const NodeId peer : std::exchange(came_up_, {}))
      node_->set_path(peer, {s.fragment_bytes, false, bulk_window(s.receive_buffer_bytes)});
    while (pump_once()) {
    }
  }
}

void VirtualNode::on_event(Event event) {
  if (over_streams() && event.kind == Event::Kind::kPeerUp) came_up_.push_back(event.peer);
  if (event.kind == Event::Kind::kCopy) return copy(event);
  if (event.kind == Event::Kind::kWork)
    return do_local_work(event.work, buffer(event.work.right.buffer).data(), buffer(event.work.out.buffer).data());
  if (event.kind == Event::Kind::kPlace) {
    check(!buffers_.contains(event.range.buffer));  // untouched
    lent_[event.range.buffer] = event.cookie, ++places_;
    return;
  }
  if (event.kind == Event::Kind::kBufferFree) {
    if (const auto at = buffers_.find(event.range.buffer); at != buffers_.end())
      large_bytes_ -= large_part(at->second.size()), buffers_.erase(at);
    lent_.erase(event.range.buffer);
    return;
  }
  for (Nanoseconds* time : {&event.done.arrived_at, &event.done.activated_at, &event.done.first_send_at})
    if (*time != 0) *time -= ahead_;  // applications here live by the cluster's clock
  if (handler_) handler_(event);
  if (event.kind == Event::Kind::kCallDone) take_back(event.done.cookie);
}

// The memory of a caller that has its answer is its own again: what it does with it must hurt nobody.
void VirtualNode::take_back(std::uint64_t cookie) {
  for (const auto& [id, caller] : lent_)
    if (caller == cookie) spoil({id, 0, node_->buffer_bytes(id)});
  std::erase_if(lent_, [cookie](const auto& lent) { return lent.second == cookie; });
}

void VirtualNode::copy(const Event& event) {
  std::vector<std::byte>& bytes = buffer(event.range.buffer);
  check(event.range.length == event.bytes.size());
  check(event.range.offset + event.range.length <= bytes.size());
  std::copy(event.bytes.begin(), event.bytes.end(), bytes.begin() + static_cast<std::ptrdiff_t>(event.range.offset));
}

void VirtualNode::transmit(const Transmit& frame) {
  VirtualNetwork::Datagram datagram(frame.head.begin(), frame.head.end());
  if (frame.payload.length > 0) {
    const std::vector<std::byte>& bytes = buffer(frame.payload.buffer);
    check(frame.payload.offset + frame.payload.length <= bytes.size());
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(frame.payload.offset);
    datagram.insert(datagram.end(), begin, begin + static_cast<std::ptrdiff_t>(frame.payload.length));
  }
  if (!over_streams()) return network_.send(self_, frame.to, std::move(datagram));
  if (!streams_.send(self_, frame.to, std::move(datagram))) node_->set_writable(frame.to, false);
}

// Alarms cannot be taken back: one that has become too early finds nothing due and only looks again.
void VirtualNode::schedule_timer() {
  const Nanoseconds deadline = node_->next_deadline();
  if (deadline == kNever || stuck()) return;
  const Nanoseconds time = std::max(deadline - ahead_, queue_.now()) + slowness_;
  if (!alarms_.empty() && *alarms_.begin() <= time) return;
  alarms_.insert(time);
  queue_.at(time, [this, time] { on_alarm(time); });
}

void VirtualNode::on_alarm(Nanoseconds time) {
  alarms_.erase(time);
  if (running()) run_timer();
}

void VirtualNode::run_timer() {
  if (node_->next_deadline() <= clock()) {
    wakes_at_once_ = last_wake_ == clock() ? wakes_at_once_ + 1 : 0;
    last_wake_ = clock();
    ++timer_calls_;
    node_->on_timer(clock());
  }
  pump();
}

std::vector<std::byte>& VirtualNode::buffer(BufferId id) {
  const auto [at, is_new] = buffers_.try_emplace(id);
  if (is_new) at->second.resize(node_->buffer_bytes(id)), large_bytes_ += large_part(at->second.size());
  return at->second;
}

}  // namespace fibocast
