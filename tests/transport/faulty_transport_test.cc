#include "transport/faulty_transport.h"

#include <gtest/gtest.h>

#include "transport/loopback_transport.h"

namespace fibocast {
namespace {

class FaultyTransportTest : public ::testing::Test {
 protected:
  // Sends numbered frames through these faults; what arrives, in order.
  std::vector<int> arrivals(const FaultSettings& faults, std::uint32_t seed, int count) {
    boost::asio::io_context io;
    LoopbackHub hub(io);
    LoopbackTransport sender(hub, 0), receiver(hub, 1);
    FaultyTransport faulty(io, sender, faults, seed);
    std::vector<int> numbers;
    Transport::Handlers handlers;
    handlers.on_frame = [&](std::span<const std::byte> f) {
      numbers.push_back(static_cast<int>(f[0]) * 256 + static_cast<int>(f[1]));
      return true;
    };
    receiver.start(std::move(handlers));
    if (is_cut) faulty.cut(1, true);
    for (int i = 0; i < count; ++i) {
      const std::byte head[] = {static_cast<std::byte>(i / 256)}, payload[] = {static_cast<std::byte>(i % 256)};
      faulty.send(1, head, payload);
    }
    io.run();
    lost = faulty.lost();
    return numbers;
  }
  bool is_cut = false;
  std::uint64_t lost = 0;
};

TEST_F(FaultyTransportTest, WithoutFaultsItChangesNothing) {
  const auto got = arrivals({}, 1, 1000);
  ASSERT_EQ(got.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(got.begin(), got.end()));
}

TEST_F(FaultyTransportTest, LosesAndRepeatsBySeed) {
  const FaultSettings faults{.loss = 0.2, .duplicates = 0.1};
  const auto got = arrivals(faults, 7, 1000);
  EXPECT_NEAR(static_cast<double>(lost), 200, 60);
  EXPECT_NEAR(static_cast<double>(got.size()), 800 * 1.1, 80);
  EXPECT_EQ(arrivals(faults, 7, 1000), got);
  EXPECT_NE(arrivals(faults, 8, 1000), got);
}

TEST_F(FaultyTransportTest, ReordersWhatItHoldsBack) {
  auto got = arrivals({.reordered = 0.3}, 1, 500);
  EXPECT_FALSE(std::is_sorted(got.begin(), got.end()));
  std::sort(got.begin(), got.end());
  for (int i = 0; i < 500; ++i) ASSERT_EQ(got[static_cast<std::size_t>(i)], i);
}

TEST_F(FaultyTransportTest, ACutPathLosesAll) {
  is_cut = true;
  EXPECT_TRUE(arrivals({}, 1, 100).empty());
  EXPECT_EQ(lost, 100u);
}

}  // namespace
}  // namespace fibocast
