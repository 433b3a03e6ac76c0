#include "transport/reliable_channel.h"

#include <algorithm>
#include <utility>

namespace fibocast {

std::size_t ReliableChannel::bytes_needed(const ChannelLimits& limits) {
  return SmallSender::bytes_needed(limits) + SmallReceiver::bytes_needed(limits) + BulkSender::bytes_needed(limits) +
         BulkReceiver::bytes_needed(limits);
}

ReliableChannel::ReliableChannel(const ChannelLimits& limits, const ChannelSettings& settings, MemoryCarver memory,
                                 ReadyFlag ready)
    : settings_(settings),
      handshake_(settings),
      resend_timer_(settings.resend_floor, settings.first_resend),
      small_out_(limits, memory),
      small_in_(limits, memory),
      bulk_out_(limits, memory),
      bulk_in_(limits, memory),
      ready_(ready) {
  ready_.raise();
  check_channel(settings.incarnation != 0 && settings.fragment_bytes > 0);
  check_channel(limits.small_window >= 1 && limits.small_window <= 32 && limits.small_body <= kMaxBodyBytes);
  check_channel(limits.bulk_window >= 1 && limits.bulk_window <= 256 && limits.bulk_streams >= 1);
}

// -- queries

ChannelState ReliableChannel::state() const { return handshake_.state(); }
std::uint32_t ReliableChannel::small_free() const { return small_out_.window().free(); }
std::uint64_t ReliableChannel::small_released() const { return small_released_; }
std::uint32_t ReliableChannel::bulk_send_free() const { return bulk_out_.streams_free(); }
std::uint32_t ReliableChannel::bulk_receive_free() const { return bulk_in_.streams_free(); }
bool ReliableChannel::all_acknowledged() const { return small_out_.window().empty() && bulk_out_.idle(); }
Nanoseconds ReliableChannel::round_trip() const { return resend_timer_.round_trip(); }
const ChannelCounters& ReliableChannel::counters() const { return counters_; }

Nanoseconds ReliableChannel::next_deadline() const {
  return std::min({handshake_.deadline(), ack_.deadline(), small_out_.window().next_deadline(resend_timer_),
                   bulk_out_.window().next_deadline(resend_timer_)});
}

PayloadRange ReliableChannel::place_of(const Frame& frame) const {
  const bool addressed = frame.from == settings_.peer && frame.to == settings_.self;
  // A fragment of another session may claim a place where one of this session is already.
  const bool ours = addressed && frame.type == FrameType::kDataBulk && handshake_.is_of_session(frame);
  return ours ? bulk_in_.place_of(frame) : PayloadRange{};
}

// -- commands

void ReliableChannel::connect(Nanoseconds now) {
  ready_.raise();
  handshake_.connect(now);
}

void ReliableChannel::send_small(std::span<const std::byte> body, PayloadRange payload, bool urgent, Nanoseconds) {
  ready_.raise();
  check_channel(payload.length <= settings_.fragment_bytes);
  small_out_.push(body, payload, urgent);
}

std::uint32_t ReliableChannel::bulk_open(std::uint64_t total, bool awaited) {
  ready_.raise();
  return bulk_out_.open(total, awaited);
}

void ReliableChannel::bulk_extend(std::uint32_t stream, PayloadRange source, std::uint64_t available, Nanoseconds) {
  ready_.raise();
  bulk_out_.extend(stream, source, available);
}

void ReliableChannel::bulk_cancel(std::uint32_t stream) {
  ready_.raise();
  bulk_out_.cancel(stream);
}

std::uint32_t ReliableChannel::bulk_restart(std::uint32_t stream) {
  ready_.raise();
  return bulk_out_.restart(stream);
}

void ReliableChannel::bulk_accept(std::uint32_t stream, PayloadRange target) {
  if (!bulk_in_.accept(stream, target)) return;
  ready_.raise();
  ask_bulk_again_ = true;
  ack_.at_once();
}

void ReliableChannel::bulk_discard(std::uint32_t stream) {
  if (!bulk_in_.discard(stream)) return;
  ready_.raise();
  ask_bulk_again_ = true;
  ack_.at_once();
}

void ReliableChannel::set_fragment_bytes(std::uint32_t bytes) {
  check_channel(bytes > 0);
  ready_.raise();
  settings_.fragment_bytes = bytes;
}

void ReliableChannel::set_bulk_window(std::uint64_t bytes) {
  ready_.raise();
  settings_.bulk_window_bytes = bytes;
}

void ReliableChannel::probe(Nanoseconds now) {
  ready_.raise();
  if (state() != ChannelState::kConnected) return handshake_.ask(now);
  probe_ = true;
}

void ReliableChannel::renew(Nanoseconds now) {
  ready_.raise();
  handshake_.renew(now);
  reset_lanes();
  tell_connected_ = tell_restarted_ = probe_ = false;
}

// -- events in

bool ReliableChannel::on_frame(const Frame& frame, Nanoseconds now) {
  using Outcome = Handshake::Outcome;
  ready_.raise();
  ++counters_.frames_received;
  const bool addressed = frame.from == settings_.peer && frame.to == settings_.self;
  const auto hello_sent = frame.type == FrameType::kHelloAck ? handshake_.answered_hello(frame) : std::nullopt;
  const Outcome outcome = addressed ? handshake_.on_frame(frame, now) : Outcome::kMalformed;
  if (outcome == Outcome::kMalformed) ++counters_.malformed;
  if (outcome == Outcome::kStale) ++counters_.stale_session;
  if (outcome == Outcome::kRefused) tell_refused_ = true;
  if (outcome == Outcome::kMalformed || outcome == Outcome::kStale || outcome == Outcome::kRefused) return false;
  const bool handshaking = frame.type == FrameType::kHello || frame.type == FrameType::kHelloAck;
  if (outcome != Outcome::kNothing) entered(outcome == Outcome::kRestarted);
  if (frame.type == FrameType::kHelloAck) ack_.at_once();  // who answered believes in us when it has a frame of ours
  peer_grant_ = frame.bulk_grant;
  if (hello_sent) resend_timer_.sample(now - *hello_sent);
  if (handshaking || frame.type == FrameType::kRefuse) return frame.type == FrameType::kHelloAck;
  take_acknowledgements(frame, now);
  if (frame.type == FrameType::kAck && frame.urgent) ack_.at_once();  // a probe
  if (frame.type == FrameType::kDataSmall) on_small(frame, now);
  if (frame.type == FrameType::kDataBulk) on_bulk(frame, now);
  return true;
}

void ReliableChannel::on_timer(Nanoseconds now) {
  ready_.raise();
  small_out_.window().mark_overdue(resend_timer_, now);
  bulk_out_.window().mark_overdue(resend_timer_, now);
}

void ReliableChannel::on_path_reset(Nanoseconds) {
  ready_.raise();
  small_out_.window().mark_all_lost();
  bulk_out_.window().mark_all_lost();
}

// The peer is proven.
void ReliableChannel::entered(bool restarted) {
  if (restarted) {
    reset_lanes();
    ++counters_.restarts;
    tell_restarted_ = true;
  }
  tell_connected_ = true;
  tell_refused_ = false;
  resend_timer_.set_peer_delays(handshake_.peer().urgent_ack_delay, handshake_.peer().idle_ack_delay);
}

void ReliableChannel::reset_lanes() {
  small_released_ += small_out_.window().used();
  small_out_.reset();
  small_in_.reset();
  bulk_out_.reset();
  bulk_in_.reset();
  ack_.sent();
  ask_bulk_again_ = tell_small_dropped_ = false;
}

void ReliableChannel::take_acknowledgements(const Frame& frame, Nanoseconds now) {
  SendWindow& small = small_out_.window();
  SendWindow& bulk = bulk_out_.window();
  const std::uint32_t small_before = small.base();
  const bool small_known = small.acknowledge(frame.small_ack, BulkBits{frame.small_sack}, [&](std::uint32_t sequence) {
    sample_round_trip(small.frame(sequence), frame, now);
  });
  small_released_ += small.base() - small_before;
  const bool bulk_known = bulk.acknowledge(frame.bulk_ack, frame.bulk_sack, [&](std::uint32_t sequence) {
    sample_round_trip(bulk.frame(sequence), frame, now);
    bulk_out_.on_acknowledged(sequence);
  });
  bulk_out_.on_base_moved();
  if (!small_known || !bulk_known) ++counters_.malformed;
  if (frame.bulk_again) bulk.mark_all_lost();
  if (frame.small_dropped) small.mark_lost_up_to(frame.echo);
}

// Only from the very datagram the peer speaks of, and never from one that was sent twice (Karn).
void ReliableChannel::sample_round_trip(const SentFrame& sent, const Frame& frame, Nanoseconds now) {
  if (sent.resent && sent.first_counter == frame.echo) resend_timer_.sent_in_vain();
  if (sent.resent || static_cast<std::uint32_t>(sent.counter) != frame.echo) return;
  resend_timer_.sample(now - sent.sent_at - frame.held_ns);
}

void ReliableChannel::on_small(const Frame& frame, Nanoseconds now) {
  using Verdict = SmallReceiver::Verdict;
  const Verdict verdict = small_in_.on_frame(frame);
  if (verdict == Verdict::kMalformed) ++counters_.malformed;
  if (verdict == Verdict::kDropped) ++counters_.reordered_dropped;
  if (verdict == Verdict::kDuplicate) ++counters_.duplicates;
  if (verdict == Verdict::kMalformed) return;
  if (verdict != Verdict::kTaken) ack_.at_once();  // a gap or a duplicate: the peer must know soon
  if (verdict == Verdict::kAhead || verdict == Verdict::kDuplicate) return;
  tell_small_dropped_ = verdict == Verdict::kDropped;
  echo_ = static_cast<std::uint32_t>(frame.counter);
  echo_at_ = now;
  ack_.on_data(now, frame.urgent ? settings_.urgent_ack_delay : settings_.idle_ack_delay);
  ack_.on_small();
}

void ReliableChannel::on_bulk(const Frame& frame, Nanoseconds now) {
  using Verdict = BulkReceiver::Verdict;
  const Verdict verdict = bulk_in_.on_frame(frame);
  if (verdict == Verdict::kMalformed) ++counters_.malformed;
  if (verdict == Verdict::kDropped || verdict == Verdict::kUnknownStream) ++counters_.reordered_dropped;
  if (verdict == Verdict::kDuplicate) ++counters_.duplicates;
  if (verdict == Verdict::kDuplicate || verdict == Verdict::kAhead) ack_.at_once();
  if (verdict != Verdict::kTaken && verdict != Verdict::kAhead) return;
  echo_ = static_cast<std::uint32_t>(frame.counter);
  echo_at_ = now;
  bulk_awaited_ = frame.urgent;
  ack_.on_data(now, settings_.urgent_ack_delay);
  ack_.on_fragment(frame.payload.size(), settings_.bulk_window_bytes);
}

// -- outputs

bool ReliableChannel::poll_delivery(Delivery& out) {
  out = Delivery{};
  if (poll_state(out) || small_in_.poll(out)) return true;
  if (bulk_in_.poll(out, counters_.malformed)) {
    if (out.complete && bulk_awaited_) ack_.at_once();
    return true;
  }
  out.stream = bulk_out_.poll_sent();
  out.kind = Delivery::Kind::kBulkSent;
  return out.stream != 0;
}

bool ReliableChannel::poll_state(Delivery& out) {
  if (std::exchange(tell_restarted_, false)) {
    out.kind = Delivery::Kind::kPeerRestarted;
  } else if (std::exchange(tell_connected_, false)) {
    out.kind = Delivery::Kind::kConnected;
  } else if (std::exchange(tell_refused_, false)) {
    out.kind = Delivery::Kind::kRefused;
    out.peer_digest = handshake_.peer_digest();
  } else {
    return false;
  }
  return true;
}

bool ReliableChannel::poll_transmit(Nanoseconds now, std::span<std::byte> scratch, Transmit& out) {
  return has_something_to_say(now) && next_frame(now, scratch, out);
}

// False: next_frame() would be, after more work.
bool ReliableChannel::has_something_to_say(Nanoseconds now) const {
  return small_out_.window().has_next() || !bulk_out_.idle() || probe_ || ack_.due(now) || handshake_.wants(now);
}

bool ReliableChannel::next_frame(Nanoseconds now, std::span<std::byte> scratch, Transmit& out) {
  out = Transmit{};
  out.to = settings_.peer;
  Frame frame;
  fill_common(frame, now);
  if (const auto type = handshake_.wants(now)) {
    std::array<std::byte, HelloBody::kBytes> body;
    handshake_.fill(*type, frame, body);
    handshake_.sent(*type, frame.counter, now);
    return finish(frame, scratch, out);
  }
  if (state() != ChannelState::kConnected) return false;
  std::array<std::byte, FragmentBody::kBytes> body;
  if (pick_data(now, frame, out, body)) {
    if (out.resend) ++counters_.resends;
  } else if (probe_) {
    frame.type = FrameType::kAck;
    frame.urgent = true;
    ++counters_.probes;
  } else if (ack_.due(now)) {
    frame.type = FrameType::kAck;
    ++counters_.bare_acks;
  } else {
    return false;
  }
  ack_.sent();
  ask_bulk_again_ = tell_small_dropped_ = false;
  if (frame.type == FrameType::kAck) probe_ = false;
  return finish(frame, scratch, out);
}

// Small before bulk, so that a small message waits for one fragment at most; in each lane the lost first.
bool ReliableChannel::pick_data(Nanoseconds now, Frame& frame, Transmit& out,
                                std::span<std::byte, FragmentBody::kBytes> body) {
  SendWindow& small = small_out_.window();
  auto sequence = small.next_lost();
  out.resend = sequence.has_value();
  if (!sequence) sequence = small.next_queued();
  if (sequence) {
    out.may_wait = !out.resend;
    out.payload = small_out_.fill(*sequence, frame);
    small.sent(*sequence, frame.counter, now);
    return true;
  }
  SendWindow& bulk = bulk_out_.window();
  sequence = bulk.next_lost();
  out.resend = sequence.has_value();
  if (!sequence && bulk_out_.cut(settings_.fragment_bytes, peer_grant_)) sequence = bulk.next_queued();
  if (!sequence) return false;
  out.payload = bulk_out_.fill(*sequence, frame, body);
  bulk.sent(*sequence, frame.counter, now);
  return true;
}

void ReliableChannel::fill_common(Frame& frame, Nanoseconds now) {
  constexpr std::uint64_t kMost = 0xffff'ffff;
  frame.counter = frame_counter_ + 1;
  frame.from = settings_.self;
  frame.to = settings_.peer;
  frame.small_ack = small_in_.window().expected();
  frame.small_sack = static_cast<std::uint32_t>(small_in_.window().bits()[0]);
  frame.bulk_ack = bulk_in_.window().expected();
  frame.bulk_sack = bulk_in_.window().bits();
  frame.bulk_grant = static_cast<std::uint32_t>(std::min(settings_.bulk_window_bytes, kMost));
  frame.bulk_again = ask_bulk_again_;
  frame.small_dropped = tell_small_dropped_;
  frame.echo = echo_;
  frame.held_ns = static_cast<std::uint32_t>(std::clamp<Nanoseconds>(now - echo_at_, 0, kMost));
}

bool ReliableChannel::finish(Frame& frame, std::span<std::byte> scratch, Transmit& out) {
  ++frame_counter_;
  ++counters_.frames_sent;
  frame.from_session = handshake_.session();
  frame.to_session = handshake_.peer_session(frame.type);
  out.head = scratch.first(encode_frame_head(frame, scratch));
  return true;
}

}  // namespace fibocast
