// The emulated network card in virtual time: occupancies, order of the ports, absolute times.
#include "transport/emulated_nic.h"

#include <gtest/gtest.h>

#include <vector>

namespace fibocast {
namespace {

constexpr std::uint32_t kQueue = 8;

class EmulatedNicTest : public testing::Test {
 protected:
  EmulatedNic make(NicSettings settings) {
    settings.enabled = true;
    memory_.resize(EmulatedNic::bytes_needed(kQueue) / sizeof(std::max_align_t) + 1);
    return {settings, kQueue, std::as_writable_bytes(std::span(memory_))};
  }
  // Runs until nothing waits: (ticket, time) in order.
  static std::vector<std::pair<std::uint64_t, Nanoseconds>> drain(EmulatedNic& nic) {
    std::vector<std::pair<std::uint64_t, Nanoseconds>> out;
    for (NicDue due; nic.next_deadline() < 1'000'000;) {
      const Nanoseconds now = nic.next_deadline();
      EXPECT_FALSE(nic.poll(now - 1, due)) << "handed out too early";
      EXPECT_TRUE(nic.poll(now, due));
      EXPECT_EQ(due.lateness, 0);
      out.emplace_back(due.ticket, now);
    }
    return out;
  }
  using Times = std::vector<std::pair<std::uint64_t, Nanoseconds>>;
  std::vector<std::max_align_t> memory_;
};

TEST_F(EmulatedNicTest, SendsFollowEachOther) {
  EmulatedNic nic = make({.send = 27, .latency = 0, .receive = 88});
  EXPECT_EQ(nic.request_send(1, 0, 100), 100);
  EXPECT_EQ(nic.request_send(2, 0, 100), 127);
  EXPECT_EQ(nic.request_send(3, 0, 110), 154);
  EXPECT_EQ(drain(nic), (Times{{1, 127}, {2, 154}, {3, 181}}));
}

TEST_F(EmulatedNicTest, AMachinesWireIsAskedInThePlaceOfTheLatency) {
  std::uint64_t seen = 0;
  const auto wire = [](void* machine, std::uint64_t source, std::uint64_t bytes, Nanoseconds departs) {
    *static_cast<std::uint64_t*>(machine) = source;
    return departs + static_cast<Nanoseconds>(bytes);
  };
  EmulatedNic nic = make({.latency = 1000, .receive = 88, .wire = wire, .machine = &seen});
  nic.request_receive(1, 30, std::uint64_t{7} << 8 | 2, 100);
  EXPECT_EQ(drain(nic), (Times{{1, 100 + 30 + 88}}));
  EXPECT_EQ(seen, 7u);
}

TEST_F(EmulatedNicTest, AReceiveTakesLatencyAndThenThePort) {
  EmulatedNic nic = make({.send = 27, .latency = 10, .receive = 88});
  nic.request_receive(1, 0, 0, 100);
  nic.request_receive(2, 0, 0, 105);
  EXPECT_EQ(drain(nic), (Times{{1, 198}, {2, 286}})) << "the wire is free at once, the processor is not";
}

TEST_F(EmulatedNicTest, ASerialWireCarriesOneMessageAfterTheOther) {  // PAPERS C11
  EmulatedNic nic = make({.send = 27, .latency = 100, .receive = 30, .serial_wire = true});
  nic.request_receive(1, 0, 0, 50);
  nic.request_receive(2, 0, 0, 60);
  EXPECT_EQ(drain(nic), (Times{{1, 180}, {2, 280}}));
  nic.request_receive(3, 0, 0, 1000);
  EXPECT_EQ(drain(nic), (Times{{3, 1130}})) << "the wire was free again";
}

TEST_F(EmulatedNicTest, OneProcessorDoesBothReceivesFirst) {
  EmulatedNic nic = make({.send = 10, .latency = 0, .receive = 100, .ports = NicPorts::kShared});
  nic.request_send(1, 0, 50);
  nic.request_receive(2, 0, 0, 50);
  EXPECT_EQ(drain(nic), (Times{{2, 150}, {1, 160}}));
}

TEST_F(EmulatedNicTest, IndependentPortsDoNotWaitForEachOther) {
  EmulatedNic nic = make({.send = 10, .latency = 0, .receive = 100, .ports = NicPorts::kIndependent});
  nic.request_receive(2, 0, 0, 50);
  nic.request_send(1, 0, 50);
  EXPECT_EQ(drain(nic), (Times{{1, 60}, {2, 150}}));
}

TEST_F(EmulatedNicTest, AtOneInstantTheSourceDecides) {
  EmulatedNic nic = make({.send = 1, .latency = 0, .receive = 5});
  nic.request_receive(7, 0, 7, 50);
  nic.request_receive(3, 0, 3, 50);
  EXPECT_EQ(drain(nic), (Times{{3, 55}, {7, 60}}));
}

TEST_F(EmulatedNicTest, BytesCount) {
  EmulatedNic nic = make({.send = 10, .latency = 0, .receive = 20, .send_per_byte = 0.5, .receive_per_byte = 2});
  nic.request_send(1, 100, 0);
  nic.request_receive(2, 100, 0, 200);
  EXPECT_EQ(drain(nic), (Times{{1, 60}, {2, 420}}));
}

// A late wake-up delays what it wakes, not what comes after it.
TEST_F(EmulatedNicTest, LatenessDoesNotAddUp) {
  EmulatedNic nic = make({.send = 100, .latency = 0, .receive = 0});
  nic.request_send(1, 0, 0);
  nic.request_send(2, 0, 0);
  NicDue due;
  ASSERT_TRUE(nic.poll(130, due));
  EXPECT_EQ(due.lateness, 30);
  EXPECT_EQ(due.began, 0);
  EXPECT_EQ(nic.next_deadline(), 200);
  ASSERT_TRUE(nic.poll(200, due));
  EXPECT_EQ(due.lateness, 0);
}

TEST_F(EmulatedNicTest, IsBounded) {
  EmulatedNic nic = make({.send = 1, .latency = 0, .receive = 1});
  for (std::uint32_t i = 0; i < kQueue; ++i) nic.request_send(i, 0, 0);
  EXPECT_TRUE(nic.full());
  NicDue due;
  ASSERT_TRUE(nic.poll(1, due));
  EXPECT_FALSE(nic.full());
}

}  // namespace
}  // namespace fibocast
