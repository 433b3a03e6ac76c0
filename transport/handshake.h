// Who the peer is: which incarnation of it we talk to, and whether it belongs to the same cluster. Core.
//
// A hello names the sender's incarnation; the answer echoes the frame counter of that hello, so a late answer
// of a former life cannot be taken for a new one. An answer to any hello since the last success is one: where the way
// takes longer than a hello waits for the next, none would ever be to the latest. The side that was only asked believes
// in the asker when a frame with both right session numbers has come: an old hello that strays alone changes nothing. A
// pair of incarnations is entered at most once, because replaced incarnations are remembered and ignored; so both sides
// always count their lanes from 0.
#pragma once

#include <array>
#include <optional>

#include "transport/channel_types.h"
#include "transport/frame.h"

namespace fibocast {

class Handshake {
 public:
  enum class Outcome : std::uint8_t {
    kNothing,
    kConnected,  // nothing was sent to another incarnation than this one
    kRestarted,  // connected with another incarnation than before
    kRefused,    // newly refused: peer_digest()
    kStale,      // not of this pair of incarnations: drop the frame
    kMalformed,
  };
  explicit Handshake(const ChannelSettings& settings);

  ChannelState state() const { return state_; }
  std::uint64_t peer_digest() const { return peer_digest_; }
  const HelloBody& peer() const { return peer_; }
  std::uint32_t session() const { return session_of(self_.incarnation); }
  // Session number of the peer to write into a frame of this type.
  std::uint32_t peer_session(FrameType type) const;
  Nanoseconds deadline() const { return hello_at_; }

  void connect(Nanoseconds now);
  // Ends the session from our side: we are a new incarnation to this peer. One node has kRenewals of them per peer.
  void renew(Nanoseconds now);
  static constexpr std::uint64_t kRenewals = 256;
  // The peer we are, or were, connected to, whatever its renewals; 0: none yet.
  std::uint64_t peer_incarnation() const { return process_of(peer_.incarnation); }
  // Of our cluster from now on. Who is connected stays so; who was or will be refused is asked again, each second.
  void set_cluster_digest(std::uint64_t digest, Nanoseconds now);
  // Asks who the peer is, now, unless it was asked just before.
  void ask(Nanoseconds now) { ask_again(now); }
  // Any frame that came from the peer, first of all.
  Outcome on_frame(const Frame& frame, Nanoseconds now);
  // Of the session that is, between the two as they are.
  bool is_of_session(const Frame& frame) const;
  // The handshake frame to be sent now, if any, and the fact that it was; fill() writes its own fields.
  std::optional<FrameType> wants(Nanoseconds now) const;
  void fill(FrameType type, Frame& frame, std::span<std::byte, HelloBody::kBytes> body) const;
  void sent(FrameType type, std::uint64_t counter, Nanoseconds now);
  // When the last hello left, if this answer is to that one.
  std::optional<Nanoseconds> answered_hello(const Frame& hello_ack) const;

 private:
  static std::uint32_t session_of(std::uint64_t incarnation);
  static std::uint64_t process_of(std::uint64_t incarnation) { return incarnation / kRenewals * kRenewals; }
  Outcome on_hello(const Frame& frame, Nanoseconds now);
  Outcome on_hello_ack(const Frame& frame);
  Outcome on_refuse(const Frame& frame);
  Outcome on_session_frame(const Frame& frame, Nanoseconds now);
  Outcome refuse(std::uint64_t digest);
  Outcome enter(HelloBody peer);
  void ask_again(Nanoseconds now);
  bool answers_us(const Frame& answer) const;
  bool fenced(std::uint64_t incarnation) const;

  HelloBody self_;
  HelloBody peer_;       // incarnation 0: none yet
  HelloBody candidate_;  // said hello, not yet believed
  std::array<std::uint64_t, 4> replaced_{};
  std::uint8_t next_replaced_ = 0;
  ChannelState state_ = ChannelState::kClosed;
  bool hello_open_ : 1 = false;      // one was not answered yet
  bool digest_changed_ : 1 = false;  // we have been of another cluster
  bool renewed_ = false;             // ... and not connected since
  bool heard_ = false;               // the peer was, since the last hello, with a frame of no session that is
  bool silence_ = true;              // ... it was not between the last two
  std::optional<FrameType> answer_;  // hello_ack or refuse, to be sent at once
  std::uint64_t peer_digest_ = 0;
  Nanoseconds hello_at_ = kNoDeadline;
  Nanoseconds hello_interval_;
  Nanoseconds last_hello_at_;
  std::uint32_t hello_counter_ = 0;  // low half of that of the last hello
  std::uint32_t first_counter_ = 0;  // ... of the first that was not answered yet
  std::uint32_t answer_echo_ = 0;
  std::uint32_t answer_session_ = 0;
};

}  // namespace fibocast
