// The fixed header of every frame on the wire, and the fixed bodies of the handshake and of bulk fragments.
// Core: no heap, no exceptions. Every length is checked before it is believed.
//
//   offset size  (all little-endian)
//        0    2  magic 0xF1B0
//        2    1  version, major: another one is not decoded
//        3    1  version, minor: additions that an older node may ignore
//        4    1  type
//        5    1  zero
//        6    1  flags: bit 0 urgent, bit 1 send the bulk lane again, bit 2 a small frame was dropped at a gap
//        7    1  zero
//        8    8  frame counter: new for every frame that leaves the channel, resends included
//       16    4  from node
//       20    4  to node
//       24    4  session of the sender: low 32 bits of its incarnation
//       28    4  session of the receiver, as far as the sender knows it; else 0
//       32    4  cluster epoch
//       36    4  sequence in the lane (data frames)
//       40    4  small lane: all below this sequence was received
//       44    4  small lane: bit i = this sequence + 1 + i was received
//       48    4  bulk lane: all below this sequence was received
//       52    4  bulk window: bytes the receiver of this frame may have in flight
//       56   32  bulk lane: bit i = the sequence at 48 + 1 + i was received
//       88    4  echo: low half of the frame counter of the newest frame received
//       92    4  nanoseconds that frame was held before this one left (saturated)
//       96    2  body length, at most 272
//       98    2  zero
//      100    4  payload length
//      104       body, then payload, then nothing
//
// Sealing (seal/) wraps whole frames; nothing of it shows here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/words.h"

namespace fibocast {

inline constexpr std::size_t kFrameHeaderBytes = 104;
inline constexpr std::size_t kMaxBodyBytes = 272;
inline constexpr std::size_t kMaxHeadBytes = kFrameHeaderBytes + kMaxBodyBytes;
inline constexpr std::uint8_t kFrameMajor = 2;
inline constexpr std::uint8_t kFrameMinor = 0;

// Values go over the wire: append only.
enum class FrameType : std::uint8_t {
  kHello = 1,
  kHelloAck = 2,
  kRefuse = 3,
  kDataSmall = 4,
  kDataBulk = 5,
  kAck = 6,
};

using BulkBits = std::array<std::uint64_t, 4>;  // 256 selective acknowledgements

struct Frame {
  FrameType type = FrameType::kAck;
  std::uint8_t version_minor = kFrameMinor;
  bool urgent = false;         // an operation waits for the acknowledgement; of a fragment: for that of its stream
  bool bulk_again = false;     // fragments in flight were dropped: their stream is known only now
  bool small_dropped = false;  // small frames up to `echo` were dropped, because one before them is missing
  std::uint64_t counter = 0;
  NodeId from = 0;
  NodeId to = 0;
  std::uint32_t from_session = 0;
  std::uint32_t to_session = 0;
  std::uint32_t epoch = 0;
  std::uint32_t sequence = 0;
  std::uint32_t small_ack = 0;
  std::uint32_t small_sack = 0;
  std::uint32_t bulk_ack = 0;
  std::uint32_t bulk_grant = 0;  // bytes
  BulkBits bulk_sack{};
  std::uint32_t echo = 0;
  std::uint32_t held_ns = 0;
  std::uint32_t payload_length = 0;
  std::span<const std::byte> body;
  std::span<const std::byte> payload;  // filled by decode only
};

// Writes header and body; the payload (payload_length bytes) follows from elsewhere. Returns the bytes written.
// Preconditions: body at most kMaxBodyBytes, `out` large enough.
std::size_t encode_frame_head(const Frame& frame, std::span<std::byte> out);

// The frame in exactly these bytes; body and payload point into them. Nothing if any field is impossible.
std::optional<Frame> decode_frame(std::span<const std::byte> bytes);
// ... of which these are header and body, without the payload, which has so many bytes: it is for the caller to set.
std::optional<Frame> decode_frame_head(std::span<const std::byte> head, std::size_t payload_bytes);

// The body of hello, hello_ack and refuse: who I am and how long I hold acknowledgements back.
struct HelloBody {
  static constexpr std::size_t kBytes = 32;
  std::uint64_t cluster_digest = 0;
  std::uint64_t incarnation = 0;
  Nanoseconds urgent_ack_delay = 0;
  Nanoseconds idle_ack_delay = 0;
};
void encode_hello(const HelloBody& hello, std::span<std::byte, HelloBody::kBytes> out);
// Longer bodies are taken (a newer minor version); delays must lie in 0 .. 10 s and the incarnation not be 0.
std::optional<HelloBody> decode_hello(std::span<const std::byte> body);

// The body of a bulk fragment. Stream 0 is the void: it only fills the gap a cancelled stream left in the lane.
struct FragmentBody {
  static constexpr std::size_t kBytes = 16;
  std::uint32_t stream = 0;
  std::uint32_t oldest_open = 0;  // the sender has no open stream below this number
  std::uint64_t offset = 0;       // of the payload in its stream
};
void encode_fragment(const FragmentBody& fragment, std::span<std::byte, FragmentBody::kBytes> out);
std::optional<FragmentBody> decode_fragment(std::span<const std::byte> body);

}  // namespace fibocast
