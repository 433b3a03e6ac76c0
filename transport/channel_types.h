// The plain structs of the reliable channel: bounds, settings, counters, and what goes up and out. Core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "transport/words.h"

namespace fibocast {

// "Nothing is due" among deadlines.
inline constexpr Nanoseconds kNoDeadline = std::numeric_limits<Nanoseconds>::max();

struct ChannelLimits {
  std::uint32_t small_window = 32;  // unacknowledged small messages, 1 .. 32
  std::uint32_t small_body = 272;   // bytes, at most kMaxBodyBytes
  std::uint32_t bulk_window = 256;  // unacknowledged fragments, 1 .. 256
  std::uint32_t bulk_streams = 16;  // each way, 1 .. 65534
};

struct ChannelSettings {
  NodeId self = 0;
  NodeId peer = 0;
  std::uint64_t incarnation = 1;            // of this node: new at each start, never 0
  std::uint64_t cluster_digest = 0;         // of cluster name and member list; a peer with another one is refused
  Nanoseconds urgent_ack_delay = 500'000;   // for frames that belong to an operation (PROTOCOL 12)
  Nanoseconds idle_ack_delay = 25'000'000;  // for all others
  Nanoseconds resend_floor = 1'000'000;     // least resend time
  Nanoseconds first_resend = 20'000'000;    // resend time before the first round trip was measured
  std::uint32_t fragment_bytes = 1200;      // largest payload of one frame
  std::uint64_t bulk_window_bytes = 65536;  // of fragments we let the peer have in flight towards us
};

enum class ChannelState : std::uint8_t { kClosed, kConnecting, kConnected, kRefused };

struct ChannelCounters {
  std::uint64_t frames_sent, frames_received, resends, bare_acks, probes, duplicates, reordered_dropped, stale_session,
      malformed, restarts;
};

// What comes up from the channel. Spans are valid until the next call of any method; those of the frame last
// given to on_frame() point into it.
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
  // For others to other nodes: data that leaves for the first time, small, or what the node knows to go to several.
  bool may_wait = false;
};

}  // namespace fibocast
