#include "runtime/wire/frame_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace fibocast {
namespace {

constexpr std::size_t kKept = 256 << 10;

std::string frame_of(const std::string& body) {
  const auto n = static_cast<std::uint32_t>(body.size());
  std::string out;
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<char>(n >> (8 * i)));
  return out + body;
}

std::size_t put(FrameBuffer& buffer, std::string_view bytes) {
  const auto room = buffer.prepare();
  const std::size_t n = std::min(room.size(), bytes.size());
  std::memcpy(room.data(), bytes.data(), n);
  buffer.commit(n);
  return n;
}

std::string take(FrameBuffer& buffer) {
  std::span<const std::byte> frame;
  if (buffer.next(frame) != FrameBuffer::Next::kFrame) return "none";
  std::string text(reinterpret_cast<const char*>(frame.data()), frame.size());
  buffer.consume();
  return text;
}

TEST(FrameBuffer, SeveralFramesAtOnce) {
  FrameBuffer buffer(1000, kKept);
  put(buffer, frame_of("one") + frame_of("two") + "\x05");
  EXPECT_EQ(take(buffer), "one");
  EXPECT_EQ(take(buffer), "two");
  EXPECT_EQ(take(buffer), "none");
}

TEST(FrameBuffer, ByteByByte) {
  FrameBuffer buffer(1000, kKept);
  for (const char c : frame_of("slow")) {
    EXPECT_EQ(take(buffer), "none");
    put(buffer, std::string_view(&c, 1));
  }
  EXPECT_EQ(take(buffer), "slow");
}

TEST(FrameBuffer, LargeAndSmallByTurns) {
  FrameBuffer buffer(10 << 20, kKept);
  for (int i = 0; i < 3; ++i) {
    const std::string large(1'000'000 + i, static_cast<char>('a' + i));
    const std::string stream = frame_of("small") + frame_of(large) + frame_of("after");
    std::vector<std::string> got;
    for (std::size_t at = 0; at < stream.size();) {
      at += put(buffer, std::string_view(stream).substr(at, 3000));
      for (std::string frame = take(buffer); frame != "none"; frame = take(buffer)) got.push_back(frame);
    }
    EXPECT_EQ(got, (std::vector<std::string>{"small", large, "after"}));
  }
}

TEST(FrameBuffer, ImpossibleLengthsAreGarbage) {
  std::span<const std::byte> frame;
  FrameBuffer zero(1000, kKept);
  put(zero, std::string(4, '\0'));
  EXPECT_EQ(zero.next(frame), FrameBuffer::Next::kGarbage);
  FrameBuffer large(1000, kKept);
  put(large, "\xff\xff\xff\x7f");
  EXPECT_EQ(large.next(frame), FrameBuffer::Next::kGarbage);
}

}  // namespace
}  // namespace fibocast
