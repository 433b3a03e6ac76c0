// One datagram with frames for several nodes, or with two for one, and the answer of who can hear such. Numbers are
// little-endian.
//
//   offset size
//        0    2  magic 0xF1BA
//        2    1  version
//        3    1  kind: 1 frames, 2 answer, 3 frames that share a payload
//        4    4  from node
//        8    8  token: a random number of who sends frames; an answer repeats it, and ends here
//       16    2  how many frames
//       18    1  1: who hears this is to answer
//       19    1  zero
//       20    2  bit i: there is something for the group's node i; others' sockets need not take the datagram
//       22    2  zero
//       24       each frame after 4 to node, 4 length (the highest bit, of kind 3: it is without its payload, which is
//                that at the end); then nothing, or, of kind 3, the payload
//
// The frames are what each node would have got alone, sealed if the cluster seals: nothing here is believed but which
// bytes are whose. Every length is checked before it is used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/little_endian.h"
#include "transport/words.h"

namespace fibocast::fan_out {

inline constexpr std::size_t kHeadBytes = 24, kEntryBytes = 8, kAnswerBytes = 16, kReceiversAt = 20;

struct Head {
  NodeId from = 0;
  std::uint64_t token = 0;
  std::uint16_t frames = 0;
  std::uint16_t receivers = 0;  // a bit for each node of the group
  bool asks = false;
  bool shares = false;  // a payload
};
struct Parts {
  Head head;
  std::span<const std::byte> frames;   // with their entries: for_each_frame()
  std::span<const std::byte> payload;  // of those that share it; empty: there is none
};
struct Answer {
  NodeId from = 0;
  std::uint64_t token = 0;
};

std::array<std::byte, kHeadBytes> encode(const Head& head);
std::array<std::byte, kAnswerBytes> encode(const Answer& answer);
std::array<std::byte, kEntryBytes> encode_entry(NodeId to, std::size_t bytes, bool shares = false);
// A frame, sealed or not, never is any of these.
bool is_any(std::span<const std::byte> datagram);
// Nothing: it is none, or its lengths do not fill it exactly.
std::optional<Parts> decode(std::span<const std::byte> datagram);
// Nothing: it is none.
std::optional<Answer> decode_answer(std::span<const std::byte> datagram);

inline constexpr std::uint32_t kShares = 0x8000'0000;  // in an entry's length
struct Entry {
  NodeId to = 0;
  bool shares = false;
  std::size_t bytes = 0;
};
// Precondition: it has kEntryBytes.
inline Entry entry_at(std::span<const std::byte> frames) {
  const auto length = little_endian::get<std::uint32_t>(frames.data() + 4);
  return {little_endian::get<std::uint32_t>(frames.data()), (length & kShares) != 0, length & ~kShares};
}

// What is sent to whom, in order: take(NodeId to, bytes, whether its payload is the shared one). Precondition: the
// lengths fill `frames` exactly, as those of decode() do.
template <class Take>
void for_each_frame(std::span<const std::byte> frames, Take take) {
  while (!frames.empty()) {
    const Entry entry = entry_at(frames);
    take(entry.to, frames.subspan(kEntryBytes, entry.bytes), entry.shares);
    frames = frames.subspan(kEntryBytes + entry.bytes);
  }
}

}  // namespace fibocast::fan_out
