// The frame that PROTOCOL.md shows byte by byte is one, and means what the page says.
#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

#include "tests/house/read_file.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

// The bytes of the block below the mark.
std::vector<std::byte> shown_frame() {
  const std::string page = read_file(FIBOCAST_SOURCE_DIR "/transport/PROTOCOL.md");
  const std::size_t mark = page.find("<!-- frame: kHello from 1 to 0 -->");
  const std::size_t begin = page.find("```", mark) + 3, end = page.find("```", begin);
  std::string digits;
  for (const char c : page.substr(begin, end - begin))
    if (std::isxdigit(static_cast<unsigned char>(c)) != 0) digits += c;
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return bytes;
}

TEST(ProtocolPage, ItsFrameIsAHello) {
  const std::vector<std::byte> bytes = shown_frame();
  const auto frame = decode_frame(bytes);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->type, FrameType::kHello);
  EXPECT_EQ(frame->from, 1u);
  EXPECT_EQ(frame->to, 0u);
  EXPECT_EQ(frame->counter, 1u);
  EXPECT_EQ(frame->bulk_grant, 65536u);
  const auto hello = decode_hello(frame->body);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->cluster_digest, 0x1122334455667788u);
  EXPECT_EQ(hello->incarnation, 0x12345678deadbeefu);
  EXPECT_EQ(frame->from_session, 0xdeadbeefu);
  EXPECT_EQ(hello->urgent_ack_delay, 500'000);
  EXPECT_EQ(hello->idle_ack_delay, 25'000'000);
}

TEST(ProtocolPage, ItsFrameIsWhatIsSent) {
  const std::vector<std::byte> bytes = shown_frame();
  const auto frame = decode_frame(bytes);
  ASSERT_TRUE(frame);
  std::vector<std::byte> again(kMaxHeadBytes);
  again.resize(encode_frame_head(*frame, again));
  EXPECT_EQ(again, bytes);
}

}  // namespace
}  // namespace fibocast
