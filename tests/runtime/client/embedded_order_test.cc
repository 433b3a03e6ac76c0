// EmbeddedNode when there is no room just now: what waits keeps its place, and what gives up does not take another's.
#include <gtest/gtest.h>

#include <boost/asio/use_future.hpp>
#include <future>

#include "runtime/cli/process.h"
#include "runtime/client/embedded_node.h"

namespace fibocast {
namespace {

using boost::asio::use_future;
using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr milliseconds kSoon{20};

std::shared_ptr<EmbeddedNode> start(NodeId rank, const std::vector<std::string>& addresses, const Limits& limits) {
  EmbeddedNode::Options options;
  options.rank = rank, options.nodes = addresses, options.limits = limits;
  auto node = EmbeddedNode::start(options);
  EXPECT_TRUE(node.ok()) << node.status().sentence;
  return node.ok() ? *node : nullptr;
}

// What applications send has a quarter of it: room for one of kLarge at a time.
constexpr std::size_t kLarge = 700'000;
Limits room_for_one() {
  Limits limits = Limits::server();
  limits.payload_bytes = 4 << 20;
  return limits;
}

std::vector<std::byte> filled(std::size_t size, char with) { return std::vector(size, std::byte(with)); }

TEST(EmbeddedOrder, ACallThatGivesUpDoesNotTakeTheNumberOfOneBeforeIt) {
  const auto addresses = free_loopback_addresses(2);
  const auto root = start(0, addresses, room_for_one());
  ASSERT_TRUE(root);
  auto here = *root->open("all");
  auto first = here.async_multicast(0, filled(kLarge, 'A'), minutes(1), use_future);
  auto second = here.async_multicast(0, filled(kLarge, 'B'), minutes(1), use_future);
  auto third = here.async_multicast(0, filled(8, 'C'), kSoon, use_future);
  EXPECT_EQ(third.get().status.code, Code::kDeadlineExceeded);
  const auto receiver = start(1, addresses, room_for_one());  // only now: nothing has left the root before
  ASSERT_TRUE(receiver);
  auto there = *receiver->open("all");
  EXPECT_TRUE(there.multicast(0, {}, minutes(1)).payload == filled(kLarge, 'A'));
  EXPECT_TRUE(there.multicast(0, {}, minutes(1)).payload == filled(kLarge, 'B'));
  auto missed = there.async_multicast(0, {}, minutes(1), use_future);
  auto fourth = there.async_multicast(0, {}, minutes(1), use_future);
  EXPECT_TRUE(here.multicast(0, filled(8, 'D'), minutes(1)).ok());
  EXPECT_EQ(missed.get().status.code, Code::kDeadlineExceeded);
  EXPECT_TRUE(fourth.get().payload == filled(8, 'D'));
  EXPECT_TRUE(first.get().ok() && second.get().ok());
}

// The root alone is refused, or all are: either way the next calls of all belong together.
TEST(EmbeddedOrder, ACallThatIsRefusedCountsForNothing) {
  const auto addresses = free_loopback_addresses(2);
  const auto root = start(0, addresses, room_for_one()), receiver = start(1, addresses, room_for_one());
  ASSERT_TRUE(root && receiver);
  auto here = *root->open("all"), there = *receiver->open("all");
  auto received = there.async_multicast(0, {}, minutes(1), use_future);
  EXPECT_EQ(here.multicast(0, filled(2 * kLarge, 'A'), minutes(1)).status.code, Code::kInvalid);
  EXPECT_TRUE(here.multicast(0, filled(kLarge, 'B'), minutes(1)).ok());
  EXPECT_TRUE(received.get().payload == filled(kLarge, 'B'));
  for (Group* group : {&here, &there}) EXPECT_EQ(group->multicast(7, {}, minutes(1)).status.code, Code::kInvalid);
  received = there.async_multicast(0, {}, minutes(1), use_future);
  EXPECT_TRUE(here.multicast(0, filled(8, 'C'), minutes(1)).ok());
  EXPECT_TRUE(received.get().payload == filled(8, 'C'));
}

TEST(EmbeddedOrder, AGroupThatIsMadeAnewIsNumberedAnew) {
  const auto addresses = free_loopback_addresses(2);
  const auto one = start(0, addresses, Limits::server()), other = start(1, addresses, Limits::server());
  ASSERT_TRUE(one && other);
  const GroupRequest pair{.name = "pair", .nodes = {0, 1}};
  std::optional<Group> before;
  for (int round = 0; round < 2; ++round) {
    const Status made = one->create_group(pair);
    ASSERT_TRUE(made.ok()) << made.sentence;
    if (before) EXPECT_EQ(before->barrier(minutes(1)).status.code, Code::kInvalid);  // it is of the former one
    auto here = *one->open("pair"), there = *other->open("pair");
    EXPECT_EQ(here.info().next_generation, 0u);
    EXPECT_EQ(there.info().next_generation, 0u);
    for (int i = 0; i < 3; ++i) {
      auto called = there.async_barrier(std::chrono::seconds(10), use_future);
      ASSERT_TRUE(here.barrier(std::chrono::seconds(10)).ok());
      ASSERT_TRUE(called.get().ok());
    }
    before = there;
    ASSERT_TRUE(one->remove_group("pair").ok());
  }
}

TEST(EmbeddedOrder, MessagesToOnePeerWithOneTagDoNotOvertakeEachOther) {
  const auto addresses = free_loopback_addresses(2);
  const auto sender = start(0, addresses, room_for_one());
  ASSERT_TRUE(sender);
  std::vector<std::future<Status>> sent;
  for (const std::size_t size : {kLarge, kLarge + 1, std::size_t{8}})
    sent.push_back(sender->async_send(1, 7, filled(size, 'm'), minutes(1), use_future));
  EXPECT_EQ(sender->try_send(1, 7, filled(9, 'm')).code, Code::kWouldBlock);
  EXPECT_TRUE(sender->try_send(1, 8, filled(9, 'm')).ok());
  const auto receiver = start(1, addresses, room_for_one());
  ASSERT_TRUE(receiver);
  for (const std::size_t size : {kLarge, kLarge + 1, std::size_t{8}})
    EXPECT_EQ(receiver->receive(7, minutes(1)).bytes.size(), size);
  for (auto& status : sent) EXPECT_TRUE(status.get().ok());
}

// The table of requests is full: neither the call nor its passing finds room.
TEST(EmbeddedOrder, ACallThatGaveUpIsPassedOnceThereIsRoom) {
  const auto addresses = free_loopback_addresses(2);
  Limits limits = Limits::server();
  limits.requests = 16;
  const auto one = start(0, addresses, limits), other = start(1, addresses, limits);
  ASSERT_TRUE(one && other);
  auto here = *one->open("all"), there = *other->open("all");
  std::vector<std::future<Received>> receives;
  for (std::uint32_t i = 0; i < limits.requests; ++i) receives.push_back(one->async_receive(1, minutes(1), use_future));
  EXPECT_EQ(here.multicast(1, {}, kSoon).status.code, Code::kDeadlineExceeded);
  EXPECT_TRUE(there.multicast(1, filled(2'000, 'x'), minutes(1)).ok());
  for (std::size_t i = 0; i < receives.size(); ++i) EXPECT_TRUE(other->send(0, 1, {}, minutes(1)).ok());
  for (auto& receive : receives) EXPECT_TRUE(receive.get().ok());
  for (std::uint32_t i = 0; i < 2 * limits.open_generations; ++i) {
    auto sent = there.async_multicast(1, filled(2'000, 'y'), std::chrono::seconds(10), use_future);
    ASSERT_TRUE(here.multicast(1, {}, std::chrono::seconds(10)).ok()) << i;
    ASSERT_TRUE(sent.get().ok()) << i;
  }
}

}  // namespace
}  // namespace fibocast
