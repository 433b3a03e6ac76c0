#include "transport/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace fibocast {
namespace {

std::vector<std::byte> bytes_of(const Frame& frame, std::span<const std::byte> payload) {
  std::vector<std::byte> bytes(kMaxHeadBytes);
  bytes.resize(encode_frame_head(frame, bytes));
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

const std::vector<std::byte> kBody(256, std::byte{0xab});
const std::vector<std::byte> kPayload(1000, std::byte{0xcd});

Frame sample() {
  Frame f;
  f.type = FrameType::kDataSmall;
  f.urgent = true, f.bulk_again = true, f.small_dropped = true, f.counter = 0x1122334455667788, f.from = 3,
  f.to = 0xfffffffe;
  f.from_session = 11, f.to_session = 12, f.epoch = 13, f.sequence = 14, f.small_ack = 15, f.small_sack = 16;
  f.bulk_ack = 17, f.bulk_grant = 18, f.bulk_sack = {19, 20, 21, 22}, f.echo = 23, f.held_ns = 24;
  f.payload_length = static_cast<std::uint32_t>(kPayload.size());
  f.body = kBody;
  return f;
}

// All of a frame is looked at, so that a sanitizer sees any byte that is not there.
unsigned touch(const Frame& f) {
  unsigned sum = f.sequence;
  for (const std::byte b : f.body) sum += static_cast<unsigned>(b);
  for (const std::byte b : f.payload) sum += static_cast<unsigned>(b);
  if (const auto hello = decode_hello(f.body)) sum += static_cast<unsigned>(hello->incarnation);
  if (const auto fragment = decode_fragment(f.body)) sum += fragment->stream;
  return sum;
}

TEST(Frame, ComesBackAsItWas) {
  const Frame f = sample();
  const auto bytes = bytes_of(f, kPayload);
  const auto g = decode_frame(bytes);
  ASSERT_TRUE(g);
  EXPECT_EQ(bytes, bytes_of(*g, g->payload));
  EXPECT_EQ(g->counter, f.counter);
  EXPECT_EQ(g->to, f.to);
  EXPECT_EQ(g->bulk_sack, f.bulk_sack);
  EXPECT_TRUE(g->urgent && g->bulk_again && g->small_dropped);
  EXPECT_TRUE(std::equal(g->body.begin(), g->body.end(), kBody.begin(), kBody.end()));
  EXPECT_TRUE(std::equal(g->payload.begin(), g->payload.end(), kPayload.begin(), kPayload.end()));
}

TEST(Frame, ItsHeadIsReadWithoutThePayload) {
  const auto bytes = bytes_of(sample(), kPayload);
  const auto head = std::span(bytes).first(bytes.size() - kPayload.size());
  const auto f = decode_frame_head(head, kPayload.size());
  ASSERT_TRUE(f);
  EXPECT_EQ(bytes_of(*f, kPayload), bytes);
  EXPECT_TRUE(f->payload.empty());
  EXPECT_FALSE(decode_frame_head(head, kPayload.size() + 1));
  EXPECT_FALSE(decode_frame_head(head.first(head.size() - 1), kPayload.size()));
  EXPECT_FALSE(decode_frame_head(bytes, 0));
}

TEST(Frame, IsLittleEndianAtDocumentedOffsets) {
  const auto bytes = bytes_of(sample(), kPayload);
  EXPECT_EQ(bytes[0], std::byte{0xb0});
  EXPECT_EQ(bytes[1], std::byte{0xf1});
  EXPECT_EQ(bytes[8], std::byte{0x88});
  EXPECT_EQ(bytes[36], std::byte{14});
  EXPECT_EQ(bytes[64], std::byte{20});
  EXPECT_EQ(bytes[97], std::byte{1});  // 256 bytes of body
  EXPECT_EQ(bytes[104], std::byte{0xab});
}

TEST(Frame, EveryOtherLengthIsRefused) {
  auto bytes = bytes_of(sample(), kPayload);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_FALSE(decode_frame(cut)) << n;
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode_frame(bytes));
}

TEST(Frame, RefusesOtherMagicVersionTypeAndPayloadWhereNoneBelongs) {
  const auto good = bytes_of(sample(), kPayload);
  for (const std::size_t at : {0, 1, 2}) {
    auto bad = good;
    bad[at] ^= std::byte{1};
    EXPECT_FALSE(decode_frame(bad));
  }
  for (const unsigned type : {0u, 7u, 255u, static_cast<unsigned>(FrameType::kAck)}) {
    auto bad = good;
    bad[4] = static_cast<std::byte>(type);
    EXPECT_FALSE(decode_frame(bad));
  }
}

TEST(Frame, MillionRandomInputsAreHarmless) {
  std::mt19937 random(1);
  unsigned sum = 0, decoded = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    std::vector<std::byte> bytes(random() % 300);
    for (std::size_t at = 0; at < bytes.size(); at += 4) {
      const auto four = static_cast<std::uint32_t>(random());
      std::memcpy(bytes.data() + at, &four, std::min(sizeof four, bytes.size() - at));
    }
    if (const auto f = decode_frame(bytes)) sum += touch(*f), ++decoded;
  }
  EXPECT_LT(decoded, 10u) << sum;
}

TEST(Frame, MutatedFramesAreHarmless) {
  std::mt19937 random(2);
  const auto good = bytes_of(sample(), kPayload);
  unsigned sum = 0;
  for (int i = 0; i < 200'000; ++i) {
    auto bytes = good;
    for (unsigned n = random() % 4; n-- > 0;) bytes[random() % kFrameHeaderBytes] = static_cast<std::byte>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    if (const auto f = decode_frame(bytes)) sum += touch(*f);
  }
  EXPECT_NE(sum, 0u);
}

TEST(HelloBody, ComesBackAndIsChecked) {
  std::array<std::byte, HelloBody::kBytes> bytes;
  encode_hello({.cluster_digest = 1, .incarnation = 2, .urgent_ack_delay = 3, .idle_ack_delay = 4}, bytes);
  const auto hello = decode_hello(bytes);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->incarnation, 2u);
  EXPECT_EQ(hello->idle_ack_delay, 4);
  EXPECT_FALSE(decode_hello(std::span(bytes).first(31)));
  bytes[31] = std::byte{0x80};  // a negative or endless delay
  EXPECT_FALSE(decode_hello(bytes));
  encode_hello({.cluster_digest = 1, .incarnation = 0, .urgent_ack_delay = 0, .idle_ack_delay = 0}, bytes);
  EXPECT_FALSE(decode_hello(bytes));
}

}  // namespace
}  // namespace fibocast
