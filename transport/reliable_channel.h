// The reliable channel to one peer: what node code sends arrives exactly once and in order per lane, or the
// node is told that the peer is a new incarnation. Pure: events and the time in, frames and deliveries out;
// no clock, no heap, no system call. All memory is handed in at construction.
//
// Two lanes. SMALL: messages of one frame: a body of at most `small_body` bytes and a payload of at most one
// fragment; delivered in order. BULK: byte streams, cut into fragments, each into a buffer that the receiving
// node has named with bulk_accept(); several at a time. Both lanes share one resend timer and one
// acknowledgement (cumulative + selective), which rides on whatever flows back. A small message never waits
// behind more than one fragment.
//
// Use: feed on_frame(), on_timer(), commands; after each, drain poll_delivery() and poll_transmit(); then ask
// next_deadline(). The bytes of a frame must live until the deliveries are drained. While the transport takes
// nothing for this peer, leave its deadline alone and drain poll_transmit() when it is writable again.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/ack_policy.h"
#include "transport/bulk_lane.h"
#include "transport/channel_types.h"
#include "transport/frame.h"
#include "transport/handshake.h"
#include "transport/ready_table.h"
#include "transport/resend_timer.h"
#include "transport/small_lane.h"

namespace fibocast {

class ReliableChannel {
 public:
  static std::size_t bytes_needed(const ChannelLimits& limits);
  // `memory` holds at least bytes_needed(limits), aligned for std::max_align_t. The channel raises the flag when it may
  // have something to send: who has many looks at the flags, and asks poll_transmit() where one is raised or at
  // next_deadline(). What it lies in outlives the channel, as the memory does.
  ReliableChannel(const ChannelLimits& limits, const ChannelSettings& settings, std::span<std::byte> memory,
                  ReadyFlag ready)
      : ReliableChannel(limits, settings, MemoryCarver(memory), ready) {}
  ReliableChannel(const ReliableChannel&) = delete;
  ReliableChannel& operator=(const ReliableChannel&) = delete;

  // -- queries
  ChannelState state() const;
  std::uint32_t small_free() const;  // how many send_small() will be taken now
  // How many small messages are done with, in the order of send_small(): acknowledged, or forgotten with a
  // former incarnation of the peer. Their payload ranges are free.
  std::uint64_t small_released() const;
  std::uint32_t bulk_send_free() const;     // how many bulk_open() will be taken now
  std::uint32_t bulk_receive_free() const;  // how many bulk_accept() will be taken now
  bool all_acknowledged() const;
  // kNoDeadline if nothing is due.
  Nanoseconds next_deadline() const;
  Nanoseconds round_trip() const;  // smoothed, 0 before the first measurement
  const ChannelCounters& counters() const;
  // Of the peer that was last connected; 0: none was. The same for all its sessions with us.
  std::uint64_t peer_incarnation() const { return handshake_.peer_incarnation(); }

  // -- commands
  void connect(Nanoseconds now);  // starts the handshake; it repeats until answered (50 ms doubling to 1 s)
  // Of our cluster from now on: for the next handshake. Who was refused is asked again.
  void set_cluster_digest(std::uint64_t digest, Nanoseconds now) {
    ready_.raise();
    handshake_.set_cluster_digest(digest, now);
  }
  // Sends a frame that the peer answers at once; while it is not connected, a hello.
  void probe(Nanoseconds now);
  // The peer is given up: all that is under way to it is forgotten, and it is told so if it still lives (its
  // kPeerRestarted). The handshake begins anew.
  void renew(Nanoseconds now);
  // Precondition: small_free() > 0. Before the peer is connected messages wait. `urgent` asks for the short ack delay.
  void send_small(std::span<const std::byte> body, PayloadRange payload, bool urgent, Nanoseconds now);
  // Reserves a stream number for `total` bytes. Nothing is sent before bulk_extend(). `awaited`: the peer says at once
  // when it has all; else with what it sends next, or after the short ack delay. Precondition: bulk_send_free() > 0.
  std::uint32_t bulk_open(std::uint64_t total, bool awaited);
  // Bytes [0, available) of `source` (range of `total` bytes) may now be sent. Called again as more is there.
  void bulk_extend(std::uint32_t stream, PayloadRange source, std::uint64_t available, Nanoseconds now);
  // The sender gives up a stream it opened (no more fragments are sent; those in flight still count).
  void bulk_cancel(std::uint32_t stream);
  // The peer has no room for what came of a stream and told so, before it accepted it: it begins anew, once it is
  // extended again, and the lane goes on meanwhile. Its new number; 0 if it was forgotten when the peer restarted.
  std::uint32_t bulk_restart(std::uint32_t stream);
  // Names the buffer of a stream the peer has opened (it told the node the number in a small message).
  void bulk_accept(std::uint32_t stream, PayloadRange target);
  // Forgets an incoming stream: fragments that still come are acknowledged and thrown away.
  void bulk_discard(std::uint32_t stream);
  void set_fragment_bytes(std::uint32_t bytes);
  void set_bulk_window(std::uint64_t bytes);

  // The peer has all that was to be sent, and knows that we have what it sent.
  bool is_settled() const { return small_out_.window().empty() && bulk_out_.window().empty() && !ack_.owed(); }

  // Where the payload of this frame, which need not be there yet, will go if on_frame() takes it; kNoBuffer: nowhere,
  // or that is not known before. Nothing is read there before on_frame().
  PayloadRange place_of(const Frame& frame) const;

  // -- events in
  // True: it is from the peer as it is now, and not a repeated hello.
  bool on_frame(const Frame& frame, Nanoseconds now);
  void on_timer(Nanoseconds now);
  void on_path_reset(Nanoseconds now);  // a TCP connection broke: all unacknowledged frames are sent again

  // -- outputs
  bool poll_delivery(Delivery& out);
  // Writes the next frame's head into `scratch` (at least kMaxHeadBytes). False: nothing to send now.
  bool poll_transmit(Nanoseconds now, std::span<std::byte> scratch, Transmit& out);

 private:
  ReliableChannel(const ChannelLimits& limits, const ChannelSettings& settings, MemoryCarver memory, ReadyFlag ready);
  bool has_something_to_say(Nanoseconds now) const;
  bool next_frame(Nanoseconds now, std::span<std::byte> scratch, Transmit& out);
  void entered(bool restarted);
  void reset_lanes();
  void take_acknowledgements(const Frame& frame, Nanoseconds now);
  void sample_round_trip(const SentFrame& sent, const Frame& frame, Nanoseconds now);
  void on_small(const Frame& frame, Nanoseconds now);
  void on_bulk(const Frame& frame, Nanoseconds now);
  bool poll_state(Delivery& out);
  bool pick_data(Nanoseconds now, Frame& frame, Transmit& out, std::span<std::byte, FragmentBody::kBytes> body);
  void fill_common(Frame& frame, Nanoseconds now);
  bool finish(Frame& frame, std::span<std::byte> scratch, Transmit& out);

  ChannelSettings settings_;
  Handshake handshake_;
  ResendTimer resend_timer_;
  SmallSender small_out_;
  SmallReceiver small_in_;
  BulkSender bulk_out_;
  BulkReceiver bulk_in_;
  AckPolicy ack_;
  ChannelCounters counters_{};
  std::uint64_t frame_counter_ = 0;
  std::uint64_t small_released_ = 0;
  std::uint32_t peer_grant_ = 0;  // bytes of fragments we may have in flight
  std::uint32_t echo_ = 0;        // of the newest data frame
  Nanoseconds echo_at_ = 0;
  [[no_unique_address]] ReadyFlag ready_;  // what follows lies in its padding
  bool ask_bulk_again_ = false;
  bool bulk_awaited_ = false;  // whoever sent the last fragment waits for its stream to be acknowledged
  bool tell_small_dropped_ = false;
  bool tell_restarted_ = false;
  bool tell_connected_ = false;
  bool tell_refused_ = false;
  bool probe_ = false;  // to be sent
};

}  // namespace fibocast
