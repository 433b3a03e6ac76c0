#include "transport/frame.h"

#include <algorithm>
#include <cstring>

#include "transport/check.h"
#include "transport/little_endian.h"

namespace fibocast {
namespace {

constexpr std::uint16_t kMagic = 0xF1B0;
constexpr std::uint8_t kUrgentFlag = 1;
constexpr std::uint8_t kBulkAgainFlag = 2;
constexpr std::uint8_t kSmallDroppedFlag = 4;
constexpr std::size_t kBodyLengthAt = 96;
constexpr Nanoseconds kLongestAckDelay = 10'000'000'000;

using little_endian::get;
using little_endian::put;

bool known_type(std::uint8_t type) { return type >= 1 && type <= static_cast<std::uint8_t>(FrameType::kAck); }

bool carries_payload(FrameType type) { return type == FrameType::kDataSmall || type == FrameType::kDataBulk; }

std::uint8_t flags_of(const Frame& f) {
  return static_cast<std::uint8_t>((f.urgent ? kUrgentFlag : 0) | (f.bulk_again ? kBulkAgainFlag : 0) |
                                   (f.small_dropped ? kSmallDroppedFlag : 0));
}

void put_identity(const Frame& f, std::byte* at) {
  put<std::uint16_t>(at, kMagic);
  put<std::uint8_t>(at + 2, kFrameMajor);
  put<std::uint8_t>(at + 3, f.version_minor);
  put<std::uint8_t>(at + 4, static_cast<std::uint8_t>(f.type));
  put<std::uint8_t>(at + 5, 0);
  put<std::uint8_t>(at + 6, flags_of(f));
  put<std::uint8_t>(at + 7, 0);
  put<std::uint64_t>(at + 8, f.counter);
  put<std::uint32_t>(at + 16, f.from);
  put<std::uint32_t>(at + 20, f.to);
  put<std::uint32_t>(at + 24, f.from_session);
  put<std::uint32_t>(at + 28, f.to_session);
  put<std::uint32_t>(at + 32, f.epoch);
}

void put_lanes(const Frame& f, std::byte* at) {
  put<std::uint32_t>(at + 36, f.sequence);
  put<std::uint32_t>(at + 40, f.small_ack);
  put<std::uint32_t>(at + 44, f.small_sack);
  put<std::uint32_t>(at + 48, f.bulk_ack);
  put<std::uint32_t>(at + 52, f.bulk_grant);
  for (std::size_t i = 0; i < f.bulk_sack.size(); ++i) put<std::uint64_t>(at + 56 + 8 * i, f.bulk_sack[i]);
  put<std::uint32_t>(at + 88, f.echo);
  put<std::uint32_t>(at + 92, f.held_ns);
  put<std::uint16_t>(at + kBodyLengthAt, static_cast<std::uint16_t>(f.body.size()));
  put<std::uint16_t>(at + 98, 0);
  put<std::uint32_t>(at + 100, f.payload_length);
}

void get_identity(const std::byte* at, Frame& f) {
  f.version_minor = get<std::uint8_t>(at + 3);
  f.type = static_cast<FrameType>(get<std::uint8_t>(at + 4));
  const auto flags = get<std::uint8_t>(at + 6);
  f.urgent = (flags & kUrgentFlag) != 0;
  f.bulk_again = (flags & kBulkAgainFlag) != 0;
  f.small_dropped = (flags & kSmallDroppedFlag) != 0;
  f.counter = get<std::uint64_t>(at + 8);
  f.from = get<std::uint32_t>(at + 16);
  f.to = get<std::uint32_t>(at + 20);
  f.from_session = get<std::uint32_t>(at + 24);
  f.to_session = get<std::uint32_t>(at + 28);
  f.epoch = get<std::uint32_t>(at + 32);
}

void get_lanes(const std::byte* at, Frame& f) {
  f.sequence = get<std::uint32_t>(at + 36);
  f.small_ack = get<std::uint32_t>(at + 40);
  f.small_sack = get<std::uint32_t>(at + 44);
  f.bulk_ack = get<std::uint32_t>(at + 48);
  f.bulk_grant = get<std::uint32_t>(at + 52);
  for (std::size_t i = 0; i < f.bulk_sack.size(); ++i) f.bulk_sack[i] = get<std::uint64_t>(at + 56 + 8 * i);
  f.echo = get<std::uint32_t>(at + 88);
  f.held_ns = get<std::uint32_t>(at + 92);
  f.payload_length = get<std::uint32_t>(at + 100);
}

// False: a field is impossible.
bool read_head(std::span<const std::byte> head, std::size_t payload_bytes, Frame& frame) {
  if (head.size() < kFrameHeaderBytes) return false;
  const std::byte* at = head.data();
  if (get<std::uint16_t>(at) != kMagic || get<std::uint8_t>(at + 2) != kFrameMajor) return false;
  if (!known_type(get<std::uint8_t>(at + 4))) return false;
  const std::size_t body = get<std::uint16_t>(at + kBodyLengthAt);
  if (body > kMaxBodyBytes || kFrameHeaderBytes + body != head.size()) return false;
  get_identity(at, frame);
  get_lanes(at, frame);
  frame.body = head.subspan(kFrameHeaderBytes);
  return frame.payload_length == payload_bytes && (payload_bytes == 0 || carries_payload(frame.type));
}

}  // namespace

std::size_t encode_frame_head(const Frame& frame, std::span<std::byte> out) {
  const std::size_t bytes = kFrameHeaderBytes + frame.body.size();
  check_channel(frame.body.size() <= kMaxBodyBytes && out.size() >= bytes);
  put_identity(frame, out.data());
  put_lanes(frame, out.data());
  std::copy(frame.body.begin(), frame.body.end(), out.data() + kFrameHeaderBytes);
  return bytes;
}

std::optional<Frame> decode_frame_head(std::span<const std::byte> head, std::size_t payload_bytes) {
  std::optional<Frame> frame(std::in_place);
  if (!read_head(head, payload_bytes, *frame)) frame.reset();
  return frame;
}

std::optional<Frame> decode_frame(std::span<const std::byte> bytes) {
  if (bytes.size() < kFrameHeaderBytes) return std::nullopt;
  const std::size_t head = kFrameHeaderBytes + get<std::uint16_t>(bytes.data() + kBodyLengthAt);
  if (head > bytes.size()) return std::nullopt;
  std::optional<Frame> frame(std::in_place);
  if (!read_head(bytes.first(head), bytes.size() - head, *frame))
    frame.reset();
  else
    frame->payload = bytes.subspan(head);
  return frame;
}

void encode_hello(const HelloBody& hello, std::span<std::byte, HelloBody::kBytes> out) {
  put<std::uint64_t>(out.data(), hello.cluster_digest);
  put<std::uint64_t>(out.data() + 8, hello.incarnation);
  put<std::uint64_t>(out.data() + 16, static_cast<std::uint64_t>(hello.urgent_ack_delay));
  put<std::uint64_t>(out.data() + 24, static_cast<std::uint64_t>(hello.idle_ack_delay));
}

std::optional<HelloBody> decode_hello(std::span<const std::byte> body) {
  if (body.size() < HelloBody::kBytes) return std::nullopt;
  HelloBody hello;
  hello.cluster_digest = get<std::uint64_t>(body.data());
  hello.incarnation = get<std::uint64_t>(body.data() + 8);
  const auto urgent = get<std::uint64_t>(body.data() + 16);
  const auto idle = get<std::uint64_t>(body.data() + 24);
  constexpr auto kLongest = static_cast<std::uint64_t>(kLongestAckDelay);
  if (hello.incarnation == 0 || urgent > kLongest || idle > kLongest) return std::nullopt;
  hello.urgent_ack_delay = static_cast<Nanoseconds>(urgent);
  hello.idle_ack_delay = static_cast<Nanoseconds>(idle);
  return hello;
}

void encode_fragment(const FragmentBody& fragment, std::span<std::byte, FragmentBody::kBytes> out) {
  put<std::uint32_t>(out.data(), fragment.stream);
  put<std::uint32_t>(out.data() + 4, fragment.oldest_open);
  put<std::uint64_t>(out.data() + 8, fragment.offset);
}

std::optional<FragmentBody> decode_fragment(std::span<const std::byte> body) {
  if (body.size() < FragmentBody::kBytes) return std::nullopt;
  FragmentBody fragment;
  fragment.stream = get<std::uint32_t>(body.data());
  fragment.oldest_open = get<std::uint32_t>(body.data() + 4);
  fragment.offset = get<std::uint64_t>(body.data() + 8);
  return fragment;
}

}  // namespace fibocast
