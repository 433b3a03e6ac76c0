#include "transport/handshake.h"

#include <algorithm>
#include <utility>

namespace fibocast {
namespace {
constexpr Nanoseconds kFirstHelloInterval = 50'000'000;
constexpr Nanoseconds kLongestHelloInterval = 1'000'000'000;
}  // namespace

Handshake::Handshake(const ChannelSettings& settings)
    : self_{settings.cluster_digest, settings.incarnation, settings.urgent_ack_delay, settings.idle_ack_delay},
      hello_interval_(kFirstHelloInterval),
      last_hello_at_(-kLongestHelloInterval) {}

// Never 0, which means "not known".
std::uint32_t Handshake::session_of(std::uint64_t incarnation) {
  const auto low = static_cast<std::uint32_t>(incarnation);
  return low == 0 ? 1 : low;
}

std::uint32_t Handshake::peer_session(FrameType type) const {
  if (type == FrameType::kHelloAck || type == FrameType::kRefuse) return answer_session_;
  return peer_.incarnation == 0 ? 0 : session_of(peer_.incarnation);
}

void Handshake::connect(Nanoseconds now) {
  if (state_ != ChannelState::kClosed) return;
  state_ = ChannelState::kConnecting;
  hello_at_ = now;
}

// After all renewals the first comes again: what is left of it in the network is long gone.
void Handshake::renew(Nanoseconds now) {
  self_.incarnation = process_of(self_.incarnation) + (self_.incarnation + 1) % kRenewals;
  renewed_ = true;
  if (state_ != ChannelState::kRefused) state_ = ChannelState::kConnecting;
  candidate_ = {};
  hello_open_ = false;
  hello_interval_ = kFirstHelloInterval;
  if (state_ != ChannelState::kRefused) hello_at_ = now;
}

void Handshake::set_cluster_digest(std::uint64_t digest, Nanoseconds now) {
  self_.cluster_digest = digest;
  digest_changed_ = true;
  if (state_ != ChannelState::kRefused) return;
  state_ = ChannelState::kConnecting;
  hello_interval_ = kFirstHelloInterval;
  hello_at_ = now;
}

Handshake::Outcome Handshake::on_frame(const Frame& frame, Nanoseconds now) {
  switch (frame.type) {
    case FrameType::kHello: return on_hello(frame, now);
    case FrameType::kHelloAck: return on_hello_ack(frame);
    case FrameType::kRefuse: return on_refuse(frame);
    default: return on_session_frame(frame, now);
  }
}

Handshake::Outcome Handshake::on_hello(const Frame& frame, Nanoseconds now) {
  const auto hello = decode_hello(frame.body);
  if (!hello) return Outcome::kMalformed;
  if (fenced(hello->incarnation)) return Outcome::kStale;
  answer_echo_ = static_cast<std::uint32_t>(frame.counter);
  answer_session_ = session_of(hello->incarnation);
  if (hello->cluster_digest != self_.cluster_digest) {
    answer_ = FrameType::kRefuse;
    return refuse(hello->cluster_digest);
  }
  answer_ = FrameType::kHelloAck;
  if (hello->incarnation == peer_.incarnation && state_ == ChannelState::kConnected) return Outcome::kNothing;
  if (hello->incarnation != candidate_.incarnation) hello_interval_ = kFirstHelloInterval;
  candidate_ = *hello;
  if (state_ != ChannelState::kConnected) state_ = ChannelState::kConnecting;
  // Our own hello only if the peer does not go on: its next frame may be lost, and it may have no other to send.
  hello_at_ = std::min(hello_at_, now + hello_interval_);
  return Outcome::kNothing;
}

Handshake::Outcome Handshake::on_hello_ack(const Frame& frame) {
  const auto hello = decode_hello(frame.body);
  if (!hello) return Outcome::kMalformed;
  if (!answers_us(frame) || fenced(hello->incarnation)) return Outcome::kStale;
  if (hello->cluster_digest != self_.cluster_digest) return refuse(hello->cluster_digest);
  return enter(*hello);
}

Handshake::Outcome Handshake::on_refuse(const Frame& frame) {
  const auto hello = decode_hello(frame.body);
  if (!hello) return Outcome::kMalformed;
  if (!answers_us(frame) || hello->cluster_digest == self_.cluster_digest) return Outcome::kStale;
  return refuse(hello->cluster_digest);
}

bool Handshake::is_of_session(const Frame& frame) const {
  return state_ == ChannelState::kConnected && peer_.incarnation != 0 && frame.to_session == session() &&
         frame.from_session == session_of(peer_.incarnation);
}

Handshake::Outcome Handshake::on_session_frame(const Frame& frame, Nanoseconds now) {
  if (is_of_session(frame)) return Outcome::kNothing;
  if (frame.to_session == session()) {
    if (candidate_.incarnation != 0 && frame.from_session == session_of(candidate_.incarnation)) {
      return enter(candidate_);
    }
  }
  // It speaks, so it holds us for connected: perhaps it is of our cluster by now.
  if (state_ == ChannelState::kRefused) {
    hello_at_ = std::min(hello_at_, std::max(now, last_hello_at_ + kLongestHelloInterval));
    return Outcome::kStale;
  }
  // After a silence it is there again, and may have nobody else to tell it that we have given it up.
  heard_ = true;
  if (std::exchange(silence_, false)) hello_interval_ = kFirstHelloInterval;
  ask_again(now);
  return Outcome::kStale;
}

// A connected peer is not given up for one stray hello of a stranger: if it is really gone, it will be missed. Where we
// have changed ourselves, the peer may have done so, too, since it said that, and refuse what we have said before.
Handshake::Outcome Handshake::refuse(std::uint64_t digest) {
  if (state_ == ChannelState::kConnected) return Outcome::kNothing;
  const bool news = state_ != ChannelState::kRefused || peer_digest_ != digest;
  state_ = ChannelState::kRefused;
  peer_digest_ = digest;
  hello_at_ = digest_changed_ ? last_hello_at_ + kLongestHelloInterval : kNoDeadline;
  return news ? Outcome::kRefused : Outcome::kNothing;
}

// By value: it may be the candidate.
Handshake::Outcome Handshake::enter(HelloBody peer) {
  hello_open_ = false;
  hello_at_ = kNoDeadline;
  hello_interval_ = kFirstHelloInterval;
  candidate_ = {};
  const bool same = peer_.incarnation == peer.incarnation;
  if (same && state_ == ChannelState::kConnected) return Outcome::kNothing;
  const bool first = peer_.incarnation == 0;
  if (!first && !same) {
    replaced_[next_replaced_] = peer_.incarnation;
    next_replaced_ = static_cast<std::uint8_t>((next_replaced_ + 1) % replaced_.size());
  }
  // Both have given the other up: what we have to send since then is for whoever it is now, if it is the same process.
  const bool both_renewed =
      std::exchange(renewed_, false) && process_of(peer_.incarnation) == process_of(peer.incarnation);
  state_ = ChannelState::kConnected;
  peer_ = peer;
  return first || same || both_renewed ? Outcome::kConnected : Outcome::kRestarted;
}

// The peer talks to a former life of us, or we do not know this one: find each other again. Less and less often: what
// comes of a busy host or over a long way may be the answer to what was said before.
void Handshake::ask_again(Nanoseconds now) {
  if (state_ == ChannelState::kRefused) return;
  if (state_ == ChannelState::kClosed) state_ = ChannelState::kConnecting;
  hello_at_ = std::min(hello_at_, std::max(now, last_hello_at_ + hello_interval_));
}

bool Handshake::answers_us(const Frame& answer) const {
  const bool since_the_first = answer.echo - first_counter_ <= hello_counter_ - first_counter_;
  return hello_open_ && answer.to_session == session() && since_the_first;
}

bool Handshake::fenced(std::uint64_t incarnation) const {
  return std::ranges::find(replaced_, incarnation) != replaced_.end();
}

std::optional<FrameType> Handshake::wants(Nanoseconds now) const {
  if (answer_) return answer_;
  if (hello_at_ <= now) return FrameType::kHello;
  return std::nullopt;
}

void Handshake::fill(FrameType type, Frame& frame, std::span<std::byte, HelloBody::kBytes> body) const {
  frame.type = type;
  if (type != FrameType::kHello) frame.echo = answer_echo_;
  encode_hello(self_, body);
  frame.body = body;
}

void Handshake::sent(FrameType type, std::uint64_t counter, Nanoseconds now) {
  if (type != FrameType::kHello) {
    answer_.reset();
    return;
  }
  hello_counter_ = static_cast<std::uint32_t>(counter);
  if (!hello_open_) first_counter_ = hello_counter_;
  hello_open_ = true;
  last_hello_at_ = now;
  silence_ = !std::exchange(heard_, false);
  const bool refused = state_ == ChannelState::kRefused && digest_changed_;
  const bool repeat = state_ == ChannelState::kConnecting || candidate_.incarnation != 0;
  hello_at_ = refused ? now + kLongestHelloInterval : repeat ? now + hello_interval_ : kNoDeadline;
  hello_interval_ = std::min(2 * hello_interval_, kLongestHelloInterval);
}

std::optional<Nanoseconds> Handshake::answered_hello(const Frame& hello_ack) const {
  if (!hello_open_ || hello_ack.echo != hello_counter_) return std::nullopt;
  return last_hello_at_;
}

}  // namespace fibocast
