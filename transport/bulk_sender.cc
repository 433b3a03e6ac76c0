#include <algorithm>

#include "transport/bulk_lane.h"

namespace fibocast {
namespace {
constexpr std::uint32_t kVoid = 0xffff'ffff;  // stream slot of a fragment whose stream was cancelled

// Fragments of equal length: the receiver works on one while the next is sent, and a small last one would cost both as
// much as any.
std::uint64_t next_length(std::uint64_t left, std::uint64_t most) {
  const auto parts = [](std::uint64_t bytes, std::uint64_t of) { return (bytes + of - 1) / of; };
  return left <= most ? left : parts(left, parts(left, most));
}

}  // namespace

std::size_t BulkSender::bytes_needed(const ChannelLimits& limits) {
  const std::uint32_t slots = ring_slots(limits.bulk_window);
  return carved_bytes<SentFrame>(slots) + carved_bytes<Fragment>(slots) + carved_bytes<Stream>(limits.bulk_streams);
}

BulkSender::BulkSender(const ChannelLimits& limits, MemoryCarver& memory)
    : window_(limits.bulk_window, memory.take<SentFrame>(ring_slots(limits.bulk_window))),
      fragments_(memory.take<Fragment>(ring_slots(limits.bulk_window))),
      streams_(memory.take<Stream>(limits.bulk_streams)) {}

void BulkSender::reset() {
  window_.reset();
  streams_.clear();
  in_flight_ = 0;
  released_ = 0;
}

std::uint32_t BulkSender::streams_free() const { return streams_.free(); }

bool BulkSender::idle() const {
  return window_.empty() && (streams_.none_is_open() || std::ranges::none_of(streams_.used(), &Stream::has_bytes));
}

std::uint32_t BulkSender::open(std::uint64_t total, bool awaited) {
  streams_.open({.number = next_number(), .total = total, .source = {}, .awaited = awaited});
  return last_number_;
}

std::uint32_t BulkSender::next_number() {
  if (++last_number_ == 0) ++last_number_;
  return last_number_;
}

void BulkSender::extend(std::uint32_t stream, PayloadRange source, std::uint64_t available) {
  Stream* s = streams_.find(stream);
  if (stream == 0 || s == nullptr) return;  // forgotten when the peer restarted
  check_channel(source.length == s->total && available <= s->total && available >= s->available);
  s->source = source;
  s->available = available;
  s->extended = true;
}

void BulkSender::cancel(std::uint32_t stream) {
  Stream* s = streams_.find(stream);
  if (stream == 0 || s == nullptr) return;
  empty_fragments(*s, false);
  streams_.end(*s);
}

// A fragment that is still on its way finds its place in the lane taken, or nobody who wants its number.
std::uint32_t BulkSender::restart(std::uint32_t stream) {
  Stream* s = streams_.find(stream);
  if (stream == 0 || s == nullptr) return 0;
  empty_fragments(*s, true);
  *s = {.number = next_number(), .total = s->total, .source = {}, .awaited = s->awaited};
  return last_number_;
}

// The lane must have no gap: fragments in flight stay, as empty ones of the void, and the buffer is free at once.
void BulkSender::empty_fragments(const Stream& stream, bool were_dropped) {
  const std::uint32_t slot = streams_.place_of(stream);
  for (std::uint32_t i = 0, sequence = window_.base(); i < window_.used(); ++i, ++sequence) {
    Fragment& f = fragments_[window_.slot(sequence)];
    if (f.stream_slot != slot) continue;
    f.stream_slot = kVoid;
    if (were_dropped) window_.mark_lost(sequence);
  }
}

bool BulkSender::cut(std::uint32_t fragment_bytes, std::uint64_t credit) {
  if (window_.free() == 0) return false;
  Stream* s = oldest_with_bytes();
  if (s == nullptr) return false;
  const std::uint64_t length = next_length(s->available - s->cut, fragment_bytes);
  if (in_flight_ > 0 && in_flight_ + length > credit) return false;
  const std::uint32_t slot = window_.slot(window_.push(true, true));
  fragments_[slot] = {s->cut, static_cast<std::uint32_t>(length), streams_.place_of(*s)};
  s->cut += length;
  s->all_cut = s->cut == s->total;
  ++s->unacknowledged;
  in_flight_ += length;
  return true;
}

PayloadRange BulkSender::fill(std::uint32_t sequence, Frame& frame,
                              std::span<std::byte, FragmentBody::kBytes> body) const {
  const Fragment& f = fragments_[window_.slot(sequence)];
  frame.type = FrameType::kDataBulk;
  frame.sequence = sequence;
  frame.body = body;
  if (f.stream_slot == kVoid) {
    encode_fragment({.stream = 0, .oldest_open = oldest_open(), .offset = 0}, body);
    return {};
  }
  const Stream& s = streams_.at(f.stream_slot);
  encode_fragment({.stream = s.number, .oldest_open = oldest_open(), .offset = f.offset}, body);
  frame.payload_length = f.length;
  frame.urgent = s.awaited;
  return {s.source.buffer, s.source.offset + f.offset, f.length};
}

void BulkSender::on_acknowledged(std::uint32_t sequence) { in_flight_ -= fragments_[window_.slot(sequence)].length; }

void BulkSender::on_base_moved() {
  for (; released_ != window_.base(); ++released_) {
    const Fragment& f = fragments_[window_.slot(released_)];
    if (f.stream_slot != kVoid) --streams_.at(f.stream_slot).unacknowledged;
  }
}

std::uint32_t BulkSender::poll_sent() {
  if (streams_.none_is_open()) return 0;
  for (Stream& s : streams_.used()) {
    if (!s.sent()) continue;
    const std::uint32_t number = s.number;
    streams_.end(s);
    return number;
  }
  return 0;
}

BulkSender::Stream* BulkSender::oldest_with_bytes() {
  if (streams_.none_is_open()) return nullptr;
  Stream* oldest = nullptr;
  for (Stream& s : streams_.used()) {
    if (s.has_bytes() && (oldest == nullptr || s.number < oldest->number)) oldest = &s;
  }
  return oldest;
}

std::uint32_t BulkSender::oldest_open() const {
  std::uint32_t oldest = last_number_ + 1;
  for (const Stream& s : streams_.used()) {
    if (s.number != 0 && s.number < oldest) oldest = s.number;
  }
  return oldest;
}

}  // namespace fibocast
