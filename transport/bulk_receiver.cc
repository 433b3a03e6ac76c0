#include <algorithm>

#include "transport/bulk_lane.h"

namespace fibocast {

std::size_t BulkReceiver::bytes_needed(const ChannelLimits& limits) {
  return carved_bytes<Arrived>(ring_slots(limits.bulk_window)) + carved_bytes<Stream>(limits.bulk_streams) +
         carved_bytes<std::uint32_t>(2 * limits.bulk_streams);
}

bool BulkReceiver::fits(const Stream& stream, std::uint64_t offset, std::uint64_t bytes) {
  return offset <= stream.length && bytes <= stream.length - offset;
}

BulkReceiver::BulkReceiver(const ChannelLimits& limits, MemoryCarver& memory)
    : window_(limits.bulk_window),
      arrived_(memory.take<Arrived>(ring_slots(limits.bulk_window))),
      streams_(memory.take<Stream>(limits.bulk_streams)),
      discarded_(memory.take<std::uint32_t>(2 * limits.bulk_streams)) {}

void BulkReceiver::reset() {
  window_.reset();
  streams_.clear();
  std::fill(discarded_.begin(), discarded_.end(), 0);
  delivered_ = 0;
  missed_first_ = missed_last_ = 0;
  fresh_ = false;
}

std::uint32_t BulkReceiver::streams_free() const { return streams_.free(); }

bool BulkReceiver::accept(std::uint32_t stream, PayloadRange target) {
  check_channel(stream != 0 && streams_.find(stream) == nullptr);
  streams_.open({stream, target.buffer, target.offset, target.length, 0});
  return was_missed(stream);
}

bool BulkReceiver::discard(std::uint32_t stream) {
  if (stream == 0 || discarded(stream)) return false;
  if (Stream* s = streams_.find(stream); s != nullptr) streams_.end(*s);
  discarded_[next_discarded_] = stream;
  next_discarded_ = (next_discarded_ + 1) % static_cast<std::uint32_t>(discarded_.size());
  return was_missed(stream);
}

BulkReceiver::Verdict BulkReceiver::on_frame(const Frame& frame) {
  check_channel(drained());
  using Place = ReceiveWindow::Place;
  const auto head = decode_fragment(frame.body);
  if (!head) return Verdict::kMalformed;
  const Place place = window_.place(frame.sequence);
  if (place == Place::kDuplicate) return Verdict::kDuplicate;
  if (place == Place::kBeyond) return Verdict::kDropped;
  forget_discarded_below(head->oldest_open);
  const Stream* s = head->stream == 0 ? nullptr : streams_.find(head->stream);
  if (s == nullptr && head->stream != 0 && !discarded(head->stream)) {
    note_missed(head->stream);
    return Verdict::kUnknownStream;
  }
  if (s != nullptr) {
    if (!fits(*s, head->offset, frame.payload.size())) return Verdict::kMalformed;
    fresh_ = !frame.payload.empty();
    fresh_stream_ = head->stream;
    fresh_payload_ = frame.payload;
    fresh_target_ = {s->buffer, s->begin + head->offset, frame.payload.size()};
  }
  arrived_[frame.sequence & (arrived_.size() - 1)] = {head->offset, static_cast<std::uint32_t>(frame.payload.size()),
                                                      head->stream};
  window_.mark(frame.sequence);
  return place == Place::kNext ? Verdict::kTaken : Verdict::kAhead;
}

PayloadRange BulkReceiver::place_of(const Frame& frame) const {
  using Place = ReceiveWindow::Place;
  const auto head = decode_fragment(frame.body);
  const Place place = window_.place(frame.sequence);
  if (!head || head->stream == 0 || (place != Place::kNext && place != Place::kAhead)) return {};
  const Stream* s = streams_.find(head->stream);
  if (s == nullptr || !fits(*s, head->offset, frame.payload_length)) return {};
  return {s->buffer, s->begin + head->offset, frame.payload_length};
}

bool BulkReceiver::poll(Delivery& out, std::uint64_t& malformed) {
  if (fresh_) {
    fresh_ = false;
    out.kind = Delivery::Kind::kBulkData;
    out.stream = fresh_stream_;
    out.payload = fresh_payload_;
    out.target = fresh_target_;
    return true;
  }
  return poll_progress(out, malformed);
}

// A sender cuts a stream in order and never cuts it anew: in the order of the lane its fragments leave no hole. One
// that claims the end without the bytes before it must not make us hand over memory that nobody wrote.
bool BulkReceiver::poll_progress(Delivery& out, std::uint64_t& malformed) {
  while (delivered_ != window_.expected()) {
    const Arrived a = arrived(delivered_++);
    Stream* s = a.stream == 0 ? nullptr : streams_.find(a.stream);
    if (s == nullptr) continue;  // discarded meanwhile
    if (a.begin != s->contiguous) {
      ++malformed;
      continue;
    }
    s->contiguous += a.length;
    // One report for a run of fragments of one stream.
    if (delivered_ != window_.expected() && arrived(delivered_).stream == a.stream) continue;
    out.kind = Delivery::Kind::kBulkProgress;
    out.stream = a.stream;
    out.contiguous = s->contiguous;
    out.complete = s->contiguous == s->length;
    if (out.complete) streams_.end(*s);
    return true;
  }
  return false;
}

bool BulkReceiver::discarded(std::uint32_t number) const {
  return std::ranges::find(discarded_, number) != discarded_.end();
}

void BulkReceiver::note_missed(std::uint32_t number) {
  missed_first_ = missed_first_ == 0 ? number : std::min(missed_first_, number);
  missed_last_ = std::max(missed_last_, number);
}

// Of those between two that were, perhaps: to ask in vain does no harm. Whoever asks gets all that is in flight again:
// what is missed by then is noted anew.
bool BulkReceiver::was_missed(std::uint32_t number) {
  const bool missed = missed_first_ <= number && number <= missed_last_;
  if (missed) missed_first_ = missed_last_ = 0;
  return missed;
}

void BulkReceiver::forget_discarded_below(std::uint32_t number) {
  for (std::uint32_t& d : discarded_) {
    if (d < number) d = 0;
  }
}

}  // namespace fibocast
