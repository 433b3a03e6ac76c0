// What hosts say to each other by messages with reserved tags, and read at once, beside applications that do not read.
#include <gtest/gtest.h>

#include <vector>

#include "tests/runtime/node/team.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

constexpr std::uint64_t kHostsTag = Node::kFirstReservedTag + 7;

ClusterSettings two_hosts() {
  ClusterSettings settings = cluster_of(2);
  settings.limits.message_credit = settings.limits.host_credit = 8;
  return settings;
}

// Sends until the node says that it must wait; returns how many it took.
int fill(Team& team, std::uint64_t tag, std::size_t bytes) {
  int taken = 0;
  for (int quiet = 0; quiet < 20 && taken < 10'000;) {
    const auto message = pattern(static_cast<std::uint64_t>(taken), bytes);
    if (team.cluster.send(0, 1, tag, message) == Admission::kTaken)
      ++taken, quiet = 0;
    else
      ++quiet;
    team.cluster.run_until(team.in(10 * kMillisecond));
  }
  EXPECT_LT(taken, 10'000) << "nothing ever pushed back";
  return taken;
}

void expect_received(Team& team, std::uint64_t tag, int count, std::size_t bytes) {
  for (int i = 0; i < count; ++i) {
    const std::uint64_t cookie = team.cluster.receive(1, tag).cookie;
    ASSERT_TRUE(team.wait({cookie}, kSecond)) << i;
    EXPECT_TRUE(team.cluster.answer(cookie)->payload == pattern(static_cast<std::uint64_t>(i), bytes)) << i;
  }
}

// Small ones, and as large as a relay's.
void expect_hosts_talk(Team& team, int times) {
  for (int i = 0; i < times; ++i)
    for (const std::size_t bytes : {1, 16'385}) {
      ASSERT_EQ(team.cluster.send(0, 1, kHostsTag, pattern(0, bytes)), Admission::kTaken) << i;
      ASSERT_NO_FATAL_FAILURE(expect_received(team, kHostsTag, 1, bytes)) << i << ", " << bytes << " bytes";
    }
}

class HostMessages : public testing::TestWithParam<std::size_t> {};

TEST_P(HostMessages, PassWhatApplicationsDoNotRead) {
  Team team(two_hosts());
  const int taken = fill(team, kTag, GetParam());
  ASSERT_NO_FATAL_FAILURE(expect_hosts_talk(team, 100));
  ASSERT_NO_FATAL_FAILURE(expect_received(team, kTag, taken, GetParam()));
  ASSERT_NO_FATAL_FAILURE(expect_hosts_talk(team, 10));
  team.expect_nothing_held();
}

// A host that does not read either is pushed back, and nothing is lost. Applications go on.
TEST_P(HostMessages, AreBoundedToo) {
  Team team(two_hosts());
  const int taken = fill(team, kHostsTag, GetParam());
  EXPECT_GT(taken, 0);
  const std::uint64_t bound = Limits::simulated().payload_bytes;
  for (NodeId id : team.up) EXPECT_LE(team.cluster.node(id).node().payload_bytes_used(), bound + bound / 64);
  ASSERT_NO_FATAL_FAILURE(expect_received(team, kHostsTag, taken, GetParam()));
  ASSERT_NO_FATAL_FAILURE(expect_hosts_talk(team, 10));
  team.expect_nothing_held();
}

INSTANTIATE_TEST_SUITE_P(Bytes, HostMessages, testing::Values(8, 65'536, 4 << 20));

TEST(HostMessages, ThatNobodyReadsDoNotHoldUpApplications) {
  Team team(two_hosts());
  for (int i = 0; i < 12; ++i) EXPECT_EQ(team.cluster.send(0, 1, kHostsTag, pattern(0, 8)), Admission::kTaken) << i;
  team.cluster.run_until(team.in(kSecond));
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(team.cluster.send(0, 1, kTag, pattern(0, 8)), Admission::kTaken) << i;
    ASSERT_NO_FATAL_FAILURE(expect_received(team, kTag, 1, 8));
  }
}

// Of whatever tag, in the order in which they are whole, but none of applications'; one that is for a receiver of its
// tag goes to whoever asked first.
TEST(HostMessages, AreAllForAHostThatTakesAny) {
  Team team(two_hosts());
  const std::uint64_t first = team.cluster.receive(1, std::nullopt).cookie;
  EXPECT_EQ(team.cluster.send(0, 1, kTag, pattern(1, 8)), Admission::kTaken);
  for (std::uint64_t i = 0; i < 20; ++i)
    EXPECT_EQ(team.cluster.send(0, 1, kHostsTag + i, pattern(i, 8)), Admission::kTaken) << i;
  ASSERT_TRUE(team.wait({first}, kSecond));
  EXPECT_EQ(team.cluster.answer(first)->event.tag, kHostsTag);
  const std::uint64_t of_tag = team.cluster.receive(1, kHostsTag + 1).cookie;
  ASSERT_TRUE(team.wait({of_tag}, kSecond));
  for (std::uint64_t i = 2; i < 20; ++i) {
    const std::uint64_t cookie = team.cluster.receive(1, std::nullopt).cookie;
    ASSERT_TRUE(team.wait({cookie}, kSecond)) << i;
    EXPECT_EQ(team.cluster.answer(cookie)->event.tag, kHostsTag + i);
    EXPECT_EQ(team.cluster.answer(cookie)->payload, pattern(i, 8));
  }
  const std::uint64_t none = team.cluster.receive(1, std::nullopt).cookie;
  EXPECT_FALSE(team.wait({none}, kSecond));
  EXPECT_TRUE(team.cluster.node(1).forget_receive(none));
  const std::uint64_t application = team.cluster.receive(1, kTag).cookie;
  ASSERT_TRUE(team.wait({application}, kSecond));
}

// Eight messages of both are on their way to a node that knows but one credit for both, and all come.
TEST(HostMessages, ShareTheCreditOfAnOlderNode) {
  Team team(two_hosts());
  int credits = 0;
  team.cluster.network().set_filter([&](NodeId, NodeId, VirtualNetwork::Datagram& datagram) {
    std::optional<Frame> frame = decode_frame(datagram);
    if (!frame || frame->type != FrameType::kDataSmall) return true;
    const auto message = decode_peer_message(frame->body);
    if (!message || message->type != PeerMessageType::kMessageCredit) return true;
    EXPECT_TRUE(message->host_count);
    ++credits;
    frame->body = frame->body.first(frame->body.size() - sizeof *message->host_count);
    std::array<std::byte, kMaxHeadBytes> head;
    const std::size_t bytes = encode_frame_head(*frame, head);
    datagram.assign(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(bytes));
    return true;
  });
  const auto send_all = [&] {
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(team.cluster.send(0, 1, kTag, pattern(static_cast<std::uint64_t>(i), 8)), Admission::kTaken);
      EXPECT_EQ(team.cluster.send(0, 1, kHostsTag, pattern(static_cast<std::uint64_t>(i), 8)), Admission::kTaken);
    }
    team.cluster.run_until(team.in(kSecond));
  };
  send_all();  // nobody knows yet
  const auto sent = [&] { return team.cluster.node(0).node().counters().messages_sent; };
  EXPECT_EQ(sent(), 12u);
  for (int round = 1; round <= 20; ++round) {
    for (const std::uint64_t tag : {kHostsTag, kTag}) ASSERT_NO_FATAL_FAILURE(expect_received(team, tag, 6, 8));
    team.cluster.run_until(team.in(kSecond));
    const std::uint64_t before = sent();
    send_all();
    EXPECT_LE(sent() - before, 8u) << round;
  }
  EXPECT_GT(credits, 0);
  EXPECT_EQ(team.cluster.node(1).node().counters().malformed, 0u);
}

// Neither what waits for the other nor what is unread there outlives one of the two: the hosts begin anew.
TEST(HostMessages, EndWithOneOfTheTwo) {
  for (const NodeId restarted : {0u, 1u}) {
    Team team(two_hosts());
    for (int i = 0; i < 12; ++i) EXPECT_EQ(team.cluster.send(0, 1, kHostsTag, pattern(9, 8)), Admission::kTaken) << i;
    team.cluster.run_until(team.in(kSecond));
    team.cluster.node(restarted).stop();
    team.cluster.node(restarted).restart(70'000);
    team.cluster.run_until(team.in(5 * kSecond));
    ASSERT_NO_FATAL_FAILURE(expect_hosts_talk(team, 10)) << restarted;
    team.expect_nothing_held();
  }
}

}  // namespace
}  // namespace fibocast
