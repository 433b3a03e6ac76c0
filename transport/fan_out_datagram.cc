#include "transport/fan_out_datagram.h"

namespace fibocast::fan_out {
namespace {

using little_endian::get, little_endian::put;

constexpr std::uint16_t kMagic = 0xF1BA;
constexpr std::uint8_t kVersion = 3, kFrames = 1, kAnswer = 2, kSharing = 3;

bool begins_with(std::span<const std::byte> datagram, std::uint8_t kind) {
  return is_any(datagram) && get<std::uint8_t>(datagram.data() + 2) == kVersion &&
         get<std::uint8_t>(datagram.data() + 3) == kind;
}

template <class Bytes>
void put_begin(std::uint8_t kind, NodeId from, std::uint64_t token, Bytes& bytes) {
  put(bytes.data(), kMagic);
  put(bytes.data() + 2, kVersion);
  put(bytes.data() + 3, kind);
  put(bytes.data() + 4, from);
  put(bytes.data() + 8, token);
}

}  // namespace

std::array<std::byte, kHeadBytes> encode(const Head& head) {
  std::array<std::byte, kHeadBytes> bytes{};
  put_begin(head.shares ? kSharing : kFrames, head.from, head.token, bytes);
  put(bytes.data() + 16, head.frames);
  put<std::uint8_t>(bytes.data() + 18, head.asks ? 1 : 0);
  put(bytes.data() + kReceiversAt, head.receivers);
  return bytes;
}

std::array<std::byte, kAnswerBytes> encode(const Answer& answer) {
  std::array<std::byte, kAnswerBytes> bytes{};
  put_begin(kAnswer, answer.from, answer.token, bytes);
  return bytes;
}

std::array<std::byte, kEntryBytes> encode_entry(NodeId to, std::size_t bytes, bool shares) {
  std::array<std::byte, kEntryBytes> entry;
  put(entry.data(), to);
  put(entry.data() + 4, static_cast<std::uint32_t>(bytes) | (shares ? kShares : 0));
  return entry;
}

bool is_any(std::span<const std::byte> datagram) {
  return datagram.size() >= kAnswerBytes && get<std::uint16_t>(datagram.data()) == kMagic;
}

std::optional<Parts> decode(std::span<const std::byte> datagram) {
  Parts parts;
  Head& head = parts.head;
  head.shares = begins_with(datagram, kSharing);
  if (datagram.size() < kHeadBytes || (!head.shares && !begins_with(datagram, kFrames))) return std::nullopt;
  head.from = get<std::uint32_t>(datagram.data() + 4);
  head.token = get<std::uint64_t>(datagram.data() + 8);
  head.frames = get<std::uint16_t>(datagram.data() + 16);
  head.asks = get<std::uint8_t>(datagram.data() + 18) == 1;
  head.receivers = get<std::uint16_t>(datagram.data() + kReceiversAt);
  const std::span<const std::byte> all = datagram.subspan(kHeadBytes);
  std::span<const std::byte> rest = all;
  for (std::size_t i = 0; i < head.frames; ++i) {
    if (rest.size() < kEntryBytes) return std::nullopt;
    const Entry entry = entry_at(rest);
    if (rest.size() - kEntryBytes < entry.bytes || (entry.shares && !head.shares)) return std::nullopt;
    rest = rest.subspan(kEntryBytes + entry.bytes);
  }
  if (rest.empty() == head.shares) return std::nullopt;
  parts.frames = all.first(all.size() - rest.size());
  parts.payload = rest;
  return parts;
}

std::optional<Answer> decode_answer(std::span<const std::byte> datagram) {
  if (datagram.size() != kAnswerBytes || !begins_with(datagram, kAnswer)) return std::nullopt;
  return Answer{get<std::uint32_t>(datagram.data() + 4), get<std::uint64_t>(datagram.data() + 8)};
}

}  // namespace fibocast::fan_out
