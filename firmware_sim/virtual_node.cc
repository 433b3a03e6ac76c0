#include "firmware_sim/virtual_node.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "collectives/check.h"

namespace fibocast {
namespace {

constexpr std::size_t kMostDirtyBytes = 256 << 10;

// Not zeroed: a node must not depend on what its memory held before. Of larger nodes there may be thousands: their
// memory is left as it comes, and only what they touch is ever mapped.
std::unique_ptr<std::byte[]> dirty_memory(std::size_t bytes) {
  std::unique_ptr<std::byte[]> memory(new std::byte[bytes]);
  if (bytes <= kMostDirtyBytes) std::memset(memory.get(), 0xa5, bytes);
  return memory;
}

}  // namespace

VirtualNode::VirtualNode(EventQueue& queue, VirtualNetwork& network, const Limits& limits, const NodeSettings& settings)
    : queue_(queue), network_(network), self_(settings.self) {
  const std::size_t bytes = Node::bytes_needed(limits);
  arena_ = dirty_memory(bytes);
  node_ = std::make_unique<Node>(limits, settings, std::span(arena_.get(), bytes));
}

VirtualNode::~VirtualNode() { network_.set_receiver(self_, nullptr); }

void VirtualNode::start() {
  started_ = true;
  network_.set_receiver(self_, [this](std::span<const std::byte> datagram) { on_datagram(datagram); });
  node_->start(queue_.now());
  pump();
}

void VirtualNode::stop() {
  started_ = false;
  network_.set_receiver(self_, nullptr);
}

Admission VirtualNode::open_group(std::string_view name, std::uint32_t participants, GroupId& id,
                                  Generation& generation) {
  const Admission answer = node_->open_group(name, participants, id, generation);
  pump();
  return answer;
}

Admission VirtualNode::create_group(const GroupDefinition& definition, std::uint64_t cookie) {
  const Admission answer = node_->create_group(definition, cookie, queue_.now());
  pump();
  return answer;
}

Admission VirtualNode::remove_group(std::string_view name) {
  const Admission answer = node_->remove_group(name, queue_.now());
  pump();
  return answer;
}

Admission VirtualNode::call(const Call& call) {
  const Admission answer = node_->call(call, queue_.now());
  pump();
  return answer;
}

void VirtualNode::forget_call(std::uint64_t cookie) {
  node_->forget_call(cookie);
  pump();
}

Admission VirtualNode::send_message(NodeId to, std::uint64_t tag, PayloadRange payload) {
  const Admission answer = node_->send_message(to, tag, payload, queue_.now());
  pump();
  return answer;
}

Admission VirtualNode::receive_message(std::uint64_t tag, std::uint64_t cookie) {
  const Admission answer = node_->receive_message(tag, cookie, queue_.now());
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

std::optional<PayloadRange> VirtualNode::put_payload(std::span<const std::byte> bytes) {
  const std::optional<BufferId> id = node_->reserve_buffer(bytes.size());
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
  node_->on_datagram(datagram, queue_.now());
  pump();
}

// A handler's own calls come back here while the loop below runs: it will see what they caused.
void VirtualNode::pump() {
  if (pumping_) return;
  pumping_ = true;
  while (pump_once()) {
  }
  pumping_ = false;
  if (started_) schedule_timer();
}

// Events first: a frame may carry bytes that an event asks to be copied.
bool VirtualNode::pump_once() {
  bool busy = false;
  for (Event event; node_->poll_event(event); busy = true) on_event(event);
  if (!started_) return busy;
  std::array<std::byte, kMaxHeadBytes> scratch;
  for (Transmit frame; node_->poll_transmit(queue_.now(), scratch, frame); busy = true) transmit(frame);
  return busy || node_->has_work();
}

void VirtualNode::on_event(const Event& event) {
  if (event.kind == Event::Kind::kCopy)
    copy(event);
  else if (event.kind == Event::Kind::kWork)
    do_local_work(event.work, buffer(event.work.right.buffer).data(), buffer(event.work.out.buffer).data());
  else if (event.kind == Event::Kind::kBufferFree)
    buffers_.erase(event.range.buffer);
  else if (handler_)
    handler_(event);
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
  network_.send(self_, frame.to, std::move(datagram));
}

// Alarms cannot be taken back: one that has become too early finds nothing due and only looks again.
void VirtualNode::schedule_timer() {
  const Nanoseconds deadline = node_->next_deadline();
  if (deadline == kNever || stuck() || (!alarms_.empty() && *alarms_.begin() <= deadline)) return;
  const Nanoseconds time = std::max(deadline, queue_.now());
  alarms_.insert(time);
  queue_.at(time, [this, time] { on_alarm(time); });
}

void VirtualNode::on_alarm(Nanoseconds time) {
  alarms_.erase(time);
  if (!started_) return;
  if (node_->next_deadline() <= queue_.now()) {
    wakes_at_once_ = last_wake_ == time ? wakes_at_once_ + 1 : 0;
    last_wake_ = time;
    ++timer_calls_;
    node_->on_timer(queue_.now());
  }
  pump();
}

std::vector<std::byte>& VirtualNode::buffer(BufferId id) {
  const auto [at, is_new] = buffers_.try_emplace(id);
  if (is_new) at->second.resize(node_->buffer_bytes(id));
  return at->second;
}

}  // namespace fibocast
