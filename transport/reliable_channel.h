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
// next_deadline(). Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/frame.h"
#include "transport/transport.h"

namespace fibocast {

struct ChannelLimits {
  std::uint32_t small_window = 32;   // unacknowledged small messages, 1 .. 32
  std::uint32_t small_body = 256;    // bytes
  std::uint32_t bulk_window = 256;   // unacknowledged fragments, 1 .. 256
  std::uint32_t bulk_streams = 16;   // each way
};

struct ChannelSettings {
  NodeId self = 0;
  NodeId peer = 0;
  std::uint64_t incarnation = 1;     // of this node: new at each start, never 0
  std::uint64_t cluster_digest = 0;  // of cluster name and member list; a peer with another one is refused
  Nanoseconds urgent_ack_delay = 500'000;   // for frames that belong to an operation (PROTOCOL 12)
  Nanoseconds idle_ack_delay = 25'000'000;  // for all others
  Nanoseconds resend_floor = 1'000'000;     // least resend time
  Nanoseconds first_resend = 20'000'000;    // resend time before the first round trip was measured
  std::uint32_t fragment_bytes = 1200;      // largest payload of one frame
  std::uint64_t bulk_window_bytes = 65536;  // of fragments we let the peer have in flight towards us
};

enum class ChannelState : std::uint8_t { kClosed, kConnecting, kConnected, kRefused };

struct ChannelCounters {
  std::uint64_t frames_sent, frames_received, resends, bare_acks, duplicates, reordered_dropped, stale_session,
      malformed, restarts;
};

// What comes up from the channel. Spans are valid until the next call of any method.
struct Delivery {
  enum class Kind : std::uint8_t {
    kConnected,      // the handshake is done; queued messages flow
    kPeerRestarted,  // new incarnation: everything unacknowledged and every bulk stream is forgotten
    kRefused,        // the peer's cluster digest differs: `peer_digest`
    kSmall,          // `body` and `payload`
    kBulkData,       // copy `payload` to `target` (a range in the buffer given to bulk_accept)
    kBulkProgress,   // stream `stream` is whole up to byte `contiguous`; `complete` when that is all
    kBulkSent,       // the peer has all of our stream `stream`; its buffer is free
  };
  Kind kind = Kind::kConnected;
  std::span<const std::byte> body;
  std::span<const std::byte> payload;
  PayloadRange target;
  std::uint32_t stream = 0;
  std::uint64_t contiguous = 0;
  bool complete = false;
  std::uint64_t peer_digest = 0;
};

// A frame to put on the wire: `head` bytes, then the payload range from the host's buffer.
struct Transmit {
  NodeId to = 0;
  std::span<const std::byte> head;  // in the scratch memory given to poll_transmit
  PayloadRange payload;
  bool resend = false;
};

class ReliableChannel {
 public:
  static std::size_t bytes_needed(const ChannelLimits& limits);
  // `memory` holds at least bytes_needed(limits), aligned for std::max_align_t, and outlives the channel.
  ReliableChannel(const ChannelLimits& limits, const ChannelSettings& settings, std::span<std::byte> memory);

  // -- queries
  ChannelState state() const;
  std::uint32_t small_free() const;     // how many send_small() will be taken now
  std::uint32_t bulk_send_free() const;     // how many bulk_open() will be taken now
  std::uint32_t bulk_receive_free() const;  // how many bulk_accept() will be taken now
  bool all_acknowledged() const;
  Nanoseconds next_deadline() const;    // kNever-like max() if nothing is due
  Nanoseconds round_trip() const;       // smoothed, 0 before the first measurement
  const ChannelCounters& counters() const;

  // -- commands
  void connect(Nanoseconds now);  // starts the handshake; it repeats until answered (50 ms doubling to 1 s)
  // Precondition: small_free() > 0. Before the peer is connected messages wait. `urgent` asks for the short ack delay.
  void send_small(std::span<const std::byte> body, PayloadRange payload, bool urgent, Nanoseconds now);
  // Reserves a stream number for `total` bytes. Nothing is sent before bulk_extend(). Precondition: bulk_send_free() > 0.
  std::uint32_t bulk_open(std::uint64_t total);
  // Bytes [0, available) of `source` (range of `total` bytes) may now be sent. Called again as more is there.
  void bulk_extend(std::uint32_t stream, PayloadRange source, std::uint64_t available, Nanoseconds now);
  // The sender gives up a stream it opened (no more fragments are sent; those in flight still count).
  void bulk_cancel(std::uint32_t stream);
  // Names the buffer of a stream the peer has opened (it told the node the number in a small message).
  void bulk_accept(std::uint32_t stream, PayloadRange target);
  // Forgets an incoming stream: fragments that still come are acknowledged and thrown away.
  void bulk_discard(std::uint32_t stream);
  void set_fragment_bytes(std::uint32_t bytes);
  void set_bulk_window(std::uint64_t bytes);

  // -- events in
  void on_frame(const Frame& frame, Nanoseconds now);
  void on_timer(Nanoseconds now);
  void on_path_reset(Nanoseconds now);  // a TCP connection broke: all unacknowledged frames are sent again

  // -- outputs
  bool poll_delivery(Delivery& out);
  // Writes the next frame's head into `scratch` (at least kMaxHeadBytes). False: nothing to send now.
  bool poll_transmit(Nanoseconds now, std::span<std::byte> scratch, Transmit& out);
};

}  // namespace fibocast
