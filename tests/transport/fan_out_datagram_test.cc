// The layout of a fan-out, and of the answer to it.
#include "transport/fan_out_datagram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace fibocast {
namespace {

struct Entry {
  NodeId to;
  std::size_t bytes;
  bool shares;
  bool operator==(const Entry&) const = default;
};

std::vector<Entry> entries_of(const fan_out::Parts& parts) {
  std::vector<Entry> entries;
  fan_out::for_each_frame(parts.frames, [&](NodeId to, std::span<const std::byte> frame, bool shares) {
    entries.push_back({to, frame.size(), shares});
  });
  return entries;
}

TEST(FanOutDatagram, IsReadAsItWasWritten) {
  const auto head =
      fan_out::encode({.from = 70'000, .token = 0x1122334455667788, .frames = 2, .receivers = 0x8001, .asks = true});
  std::vector<std::byte> datagram(head.begin(), head.end());
  for (const NodeId to : {3u, 65'536u}) {
    const auto entry = fan_out::encode_entry(to, to % 5);
    datagram.insert(datagram.end(), entry.begin(), entry.end());
    datagram.resize(datagram.size() + to % 5, static_cast<std::byte>(to % 5));
  }
  const auto read = fan_out::decode(datagram);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->head.from, 70'000u);
  EXPECT_EQ(read->head.token, 0x1122334455667788u);
  EXPECT_EQ(read->head.frames, 2u);
  EXPECT_EQ(read->head.receivers, 0x8001u);
  EXPECT_TRUE(read->head.asks);
  EXPECT_FALSE(read->head.shares);
  EXPECT_TRUE(read->payload.empty());
  EXPECT_EQ(entries_of(*read), (std::vector<Entry>{{3, 3, false}, {65'536, 1, false}}));
  EXPECT_FALSE(fan_out::decode_answer(datagram));
  for (std::size_t bytes = 0; bytes < datagram.size(); ++bytes)
    EXPECT_FALSE(fan_out::decode(std::span<const std::byte>(datagram).first(bytes))) << bytes;
  std::ranges::copy(fan_out::encode_entry(3, 3, true), datagram.begin() + fan_out::kHeadBytes);
  EXPECT_FALSE(fan_out::decode(datagram)) << "without its payload, but nothing is shared";
  std::ranges::copy(fan_out::encode({.frames = 2, .shares = true}), datagram.begin());
  EXPECT_FALSE(fan_out::decode(datagram)) << "without a payload";
  datagram.push_back(std::byte{7});
  const auto shared = fan_out::decode(datagram);
  ASSERT_TRUE(shared);
  EXPECT_TRUE(shared->head.shares);
  EXPECT_EQ(entries_of(*shared), (std::vector<Entry>{{3, 3, true}, {65'536, 1, false}}));
  ASSERT_EQ(shared->payload.size(), 1u);
  EXPECT_EQ(shared->payload[0], std::byte{7});
  std::ranges::copy(head, datagram.begin());
  std::ranges::copy(fan_out::encode_entry(3, 3), datagram.begin() + fan_out::kHeadBytes);
  EXPECT_FALSE(fan_out::decode(datagram)) << "something is left";
  const auto answer = fan_out::decode_answer(fan_out::encode(fan_out::Answer{.from = 9, .token = 8}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->from, 9u);
  EXPECT_EQ(answer->token, 8u);
}

}  // namespace
}  // namespace fibocast
