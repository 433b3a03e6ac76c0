#include "runtime/client/embedded_node.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <cstring>
#include <future>
#include <thread>

#include "runtime/cli/process.h"

namespace fibocast {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

using Nodes = std::vector<std::shared_ptr<EmbeddedNode>>;

EmbeddedNode::Options options_of(const std::vector<std::string>& addresses, NodeId rank, bool tcp) {
  EmbeddedNode::Options options;
  options.rank = rank;
  options.nodes = addresses;
  options.tcp = tcp;
  return options;
}

Nodes start_nodes(std::uint32_t count, bool tcp, const std::string& local = "auto") {
  const auto addresses = free_loopback_addresses(count);
  Nodes nodes;
  for (NodeId rank = 0; rank < addresses.size(); ++rank) {
    EmbeddedNode::Options options = options_of(addresses, rank, tcp);
    options.local = local;
    auto node = EmbeddedNode::start(options);
    EXPECT_TRUE(node.ok()) << node.status().sentence;
    if (node.ok()) nodes.push_back(*node);
  }
  return nodes;
}

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string text(const std::vector<std::byte>& got) { return {reinterpret_cast<const char*>(got.data()), got.size()}; }

class Embedded : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(UdpAndTcp, Embedded, testing::Bool());

TEST_P(Embedded, BarriersAndMulticastsOfThreeThreads) {
  const Nodes nodes = start_nodes(3, GetParam());
  ASSERT_EQ(nodes.size(), 3u);
  std::vector<std::thread> members;
  for (const auto& node : nodes)
    members.emplace_back([&node] {
      auto group = node->open("all");
      ASSERT_TRUE(group.ok()) << group.status().sentence;
      EXPECT_EQ(group->size(), 3u);
      for (std::uint32_t i = 0; i < 100; ++i) {
        const Outcome outcome = group->barrier(minutes(1));
        ASSERT_TRUE(outcome.ok()) << outcome.status.sentence;
        EXPECT_EQ(outcome.generation, i);
        EXPECT_LT(outcome.straggler.rank, 3u);
      }
      const bool root = node->rank() == 1;
      const Outcome outcome = group->multicast(1, root ? bytes("hear this") : bytes(""), minutes(1));
      ASSERT_TRUE(outcome.ok()) << outcome.status.sentence;
      EXPECT_TRUE(root || text(outcome.payload) == "hear this");
    });
  for (std::thread& member : members) member.join();
  auto status = nodes[0]->status();
  EXPECT_EQ(status->connected, 2u);
  std::uint32_t counted = 0;
  for (const GroupInfo& group : status->groups)
    for (const SlowRank& row : group.slowest) counted += row.times;
  EXPECT_EQ(counted, 100u);
}

// Small, in one frame, in many; to a place that is too short as well.
TEST_P(Embedded, MulticastsIntoAPlaceOfTheCallers) {
  const Nodes nodes = start_nodes(3, GetParam());
  ASSERT_EQ(nodes.size(), 3u);
  std::vector<std::thread> members;
  for (const auto& node : nodes)
    members.emplace_back([&node] {
      auto group = *node->open("all");
      const bool root = node->rank() == 1;
      for (const std::size_t size : {10u, 20'000u, 1'000'000u}) {
        std::vector<std::byte> place(size, root ? std::byte{7} : std::byte{0});
        const Outcome outcome = group.multicast_into(1, place, minutes(1));
        ASSERT_TRUE(outcome.ok()) << outcome.status.sentence;
        EXPECT_TRUE(outcome.payload.empty());
        EXPECT_EQ(outcome.in_place, !root);
        EXPECT_TRUE(place == std::vector<std::byte>(size, std::byte{7}));
      }
      std::vector<std::byte> place(root ? 100'000 : 5);
      const Outcome outcome = group.multicast_into(1, place, minutes(1));
      EXPECT_EQ(outcome.status.code, root ? Code::kOk : Code::kInvalid);
      EXPECT_EQ(outcome.payload.size(), root ? 0u : 100'000u);
    });
  for (std::thread& member : members) member.join();
}

// Each time in a buffer that is freed at once.
void multicasts_of_many_buffers(EmbeddedNode& node) {
  auto group = *node.open("all");
  for (int i = 1; i <= 100; ++i) {
    std::vector<std::byte> place(i % 2 == 0 ? 200'000 : 5'000, node.rank() == 0 ? std::byte(i) : std::byte{0});
    ASSERT_TRUE(group.multicast_into(0, place, minutes(1)).ok());
    EXPECT_TRUE(place == std::vector(place.size(), std::byte(i))) << "rank " << node.rank();
    std::ranges::fill(place, std::byte{255});
  }
}

// They are sent from where they are, or copied meanwhile, as it takes to share memory: never after the call's end.
TEST_P(Embedded, ARootsBytesAreItsOwnAgainWhenItsCallHasEnded) {
  for (const auto& [count, local] : {std::pair(2u, "off"), {5u, "off"}, {2u, "auto"}, {5u, "auto"}}) {
    const Nodes nodes = start_nodes(count, GetParam(), local);
    ASSERT_EQ(nodes.size(), count);
    std::vector<std::thread> receivers;
    for (NodeId rank = 1; rank < count; ++rank)
      receivers.emplace_back([&nodes, rank] { multicasts_of_many_buffers(*nodes[rank]); });
    multicasts_of_many_buffers(*nodes[0]);
    for (std::thread& receiver : receivers) receiver.join();
  }
}

// Blocking calls drive the node from several threads in turn, asynchronous ones have it driven by its own.
TEST_P(Embedded, CallsOfSeveralThreadsAndAsynchronousOnesAtOnce) {
  const Nodes nodes = start_nodes(2, GetParam());
  ASSERT_EQ(nodes.size(), 2u);
  std::vector<std::thread> callers;
  for (const auto& node : nodes)
    for (const char* name : {"first", "second", "third"})
      callers.emplace_back([&node, name] {
        auto group = node->open(name);
        const bool asynchronous = std::string_view(name) == "third";
        for (int i = 0; i < 100; ++i) {
          const Outcome outcome = asynchronous ? group->async_barrier(minutes(1), boost::asio::use_future).get()
                                               : group->barrier(minutes(1));
          ASSERT_TRUE(outcome.ok()) << outcome.status.sentence;
        }
      });
  for (std::thread& caller : callers) caller.join();
}

// Between two calls nobody drives the node for a moment; then its own thread does.
TEST_P(Embedded, AnswersWhileItsApplicationMakesNoCalls) {
  const Nodes nodes = start_nodes(2, GetParam());
  ASSERT_EQ(nodes.size(), 2u);
  std::thread other([&] { EXPECT_TRUE(nodes[1]->open("all")->barrier(minutes(1)).ok()); });
  EXPECT_TRUE(nodes[0]->open("all")->barrier(minutes(1)).ok());
  other.join();
  const std::vector<std::byte> large(300'000, std::byte{7});  // comes only when the other node grants it
  ASSERT_TRUE(nodes[0]->send(1, 5, large).ok());
  const auto end = std::chrono::steady_clock::now() + minutes(1);
  while (nodes[0]->status()->payload_bytes_used > 0 && std::chrono::steady_clock::now() < end) {
  }
  EXPECT_EQ(nodes[0]->status()->payload_bytes_used, 0u);
  EXPECT_EQ(nodes[1]->receive(5, minutes(1)).bytes, large);
}

// One rank goes through all operations that move data.
void exchange_everything(Group& group) {
  const Rank me = group.rank(), size = group.size();
  const std::vector<std::int64_t> mine = {me + 1, 10 * (me + 1)};
  const std::vector<std::int64_t> sums = {6, 60};
  const auto span = std::span<const std::int64_t>(mine);
  EXPECT_EQ(group.allreduce(span, CombineOperator::kSum, minutes(1)).values<std::int64_t>(), sums);
  const Outcome reduced = group.reduce(1, span, CombineOperator::kSum, minutes(1));
  EXPECT_EQ(reduced.values<std::int64_t>(), me == 1 ? sums : std::vector<std::int64_t>{});
  EXPECT_EQ(text(group.scatter(2, me == 2 ? bytes("aabbcc") : bytes(""), minutes(1)).payload),
            std::string(2, static_cast<char>('a' + me)));
  const std::string letter(1, static_cast<char>('x' + me));
  EXPECT_EQ(text(group.gather(1, bytes(letter), minutes(1)).payload), me == 1 ? "xyz" : "");
  EXPECT_EQ(text(group.allgather(bytes(letter), minutes(1)).payload), "xyz");
  const std::string to_each(size, static_cast<char>('0' + me));
  EXPECT_EQ(text(group.alltoall(bytes(to_each), minutes(1)).payload), "012");
  const Outcome share = group.divide(1, me == 1 ? bytes("abcd") : bytes(""), ElementType::kBytes, minutes(1));
  EXPECT_EQ(text(share.payload), me == 1 ? "a" : me == 2 ? "b" : "cd");
  const Outcome whole = group.conquer(1, 4, share.payload, {}, minutes(1));
  EXPECT_EQ(text(whole.payload), me == 1 ? "abcd" : "");
}

TEST_P(Embedded, EveryOperationThatMovesData) {
  const Nodes nodes = start_nodes(3, GetParam());
  ASSERT_EQ(nodes.size(), 3u);
  std::vector<std::thread> members;
  for (const auto& node : nodes)
    members.emplace_back([&node] {
      auto group = node->open("all");
      ASSERT_TRUE(group.ok()) << group.status().sentence;
      exchange_everything(*group);
    });
  for (std::thread& member : members) member.join();
}

TEST(EmbeddedNode, AsynchronousReductions) {
  const Nodes nodes = start_nodes(2, false);
  ASSERT_EQ(nodes.size(), 2u);
  std::vector<std::future<Outcome>> sums, gathered, refused;
  const double values[] = {0.5, 0.25};
  const Combination sum{ElementType::kDouble, CombineOperator::kSum};
  for (NodeId rank = 0; rank < 2; ++rank) {
    auto group = nodes[rank]->open("all");
    ASSERT_TRUE(group.ok()) << group.status().sentence;
    const auto mine = std::as_bytes(std::span(values).subspan(rank, 1));
    sums.push_back(group->async_allreduce(mine, sum, minutes(1), boost::asio::use_future));
    gathered.push_back(group->async_allgather(mine, minutes(1), boost::asio::use_future));
    const Combination no_operator{ElementType::kDouble, CombineOperator::kXor};
    refused.push_back(group->async_allreduce(mine, no_operator, minutes(1), boost::asio::use_future));
  }
  for (auto& outcome : sums) EXPECT_EQ(outcome.get().values<double>(), std::vector<double>{0.75});
  for (auto& outcome : gathered) EXPECT_EQ(outcome.get().values<double>(), (std::vector<double>{0.5, 0.25}));
  for (auto& outcome : refused) EXPECT_EQ(outcome.get().status.code, Code::kInvalid);
}

TEST(EmbeddedNode, AsynchronousDivideAndConquer) {
  const Nodes nodes = start_nodes(2, false);
  ASSERT_EQ(nodes.size(), 2u);
  OperationOptions options;
  options.algorithm = "share:0.75";
  const Combination largest{ElementType::kInt32, CombineOperator::kMax};
  const std::int32_t values[] = {1, 2, 3, 4};
  const std::int32_t shares[2][3] = {{1, 2, 9}, {5, 6, 7}};  // elements 0 .. 2 and 1 .. 3
  std::vector<std::future<Outcome>> divided, conquered;
  for (NodeId rank = 0; rank < 2; ++rank) {
    auto group = nodes[rank]->open("all");
    ASSERT_TRUE(group.ok()) << group.status().sentence;
    const auto vector = std::as_bytes(std::span(values).first(rank == 0 ? 4 : 0));
    divided.push_back(
        group->async_divide(0, vector, ElementType::kInt32, minutes(1), boost::asio::use_future, options));
    const auto share = std::as_bytes(std::span(shares[rank]));
    conquered.push_back(group->async_conquer(0, 4, share, largest, minutes(1), boost::asio::use_future, options));
  }
  EXPECT_EQ(divided[0].get().values<std::int32_t>(), (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(divided[1].get().values<std::int32_t>(), (std::vector<std::int32_t>{2, 3, 4}));
  EXPECT_EQ(conquered[0].get().values<std::int32_t>(), (std::vector<std::int32_t>{1, 5, 9, 7}));
  EXPECT_TRUE(conquered[1].get().payload.empty());
}

TEST(EmbeddedNode, MessagesInOrderAndADeadlineForNone) {
  const Nodes nodes = start_nodes(2, false);
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_TRUE(nodes[0]->send(1, 7, bytes("first"), minutes(1)).ok());
  EXPECT_TRUE(nodes[0]->send(1, 7, bytes("second"), minutes(1)).ok());
  EXPECT_EQ(text(nodes[1]->receive(7, minutes(1)).bytes), "first");
  const Received second = nodes[1]->receive(7, minutes(1));
  EXPECT_EQ(text(second.bytes), "second");
  EXPECT_EQ(second.from, 0u);
  EXPECT_EQ(nodes[1]->receive(7, milliseconds(20)).status.code, Code::kDeadlineExceeded);
}

// They would take the credit and the places that daemons have for what they tell each other.
TEST(EmbeddedNode, ReservedTagsAreRefused) {
  const Nodes nodes = start_nodes(1, false);
  ASSERT_EQ(nodes.size(), 1u);
  for (const std::uint64_t tag : {std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    const Status sent = nodes[0]->send(0, tag, bytes("word"), minutes(1));
    EXPECT_EQ(sent.code, Code::kInvalid);
    EXPECT_NE(sent.sentence.find("allowed: 0 to 2^63 - 1"), std::string::npos) << sent.sentence;
    EXPECT_EQ(nodes[0]->try_send(0, tag, bytes("word")).code, Code::kInvalid);
    EXPECT_EQ(nodes[0]->receive(tag, milliseconds(20)).status.code, Code::kInvalid);
  }
  EXPECT_TRUE(nodes[0]->send(0, (std::uint64_t{1} << 63) - 1, bytes("word"), minutes(1)).ok());
  EXPECT_EQ(nodes[0]->status()->payload_bytes_used, 4u) << "what was refused holds nothing";
}

TEST(EmbeddedNode, WhoDoesNotComeIsNamed) {
  const Nodes nodes = start_nodes(2, false);
  ASSERT_EQ(nodes.size(), 2u);
  auto group = nodes[0]->open("all");
  const Outcome outcome = group->barrier(milliseconds(300));
  EXPECT_EQ(outcome.status.code, Code::kDeadlineExceeded) << outcome.status.sentence;
  EXPECT_EQ(outcome.status.ranks, std::vector<Rank>{1});
}

TEST(EmbeddedNode, AsynchronousCalls) {
  const Nodes nodes = start_nodes(2, false);
  ASSERT_EQ(nodes.size(), 2u);
  auto first = nodes[0]->open("all"), second = nodes[1]->open("all");
  auto a = first->async_barrier(minutes(1), boost::asio::use_future);
  auto b = second->async_barrier(minutes(1), boost::asio::use_future);
  EXPECT_TRUE(a.get().ok());
  EXPECT_TRUE(b.get().ok());
  auto got = nodes[1]->async_receive(1, minutes(1), boost::asio::use_future);
  EXPECT_TRUE(nodes[0]->async_send(1, 1, bytes("word"), minutes(1), boost::asio::use_future).get().ok());
  EXPECT_EQ(text(got.get().bytes), "word");
}

TEST(EmbeddedNode, GroupsThatAreCreated) {
  const Nodes nodes = start_nodes(3, false);
  ASSERT_EQ(nodes.size(), 3u);
  const Status made = nodes[2]->create_group({.name = "two", .nodes = {1, 2}, .distribution = TreeSpec{}});
  ASSERT_TRUE(made.ok()) << made.sentence;
  auto one = nodes[1]->open("two"), two = nodes[2]->open("two");
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(two->rank(), 1u);
  auto done = one->async_barrier(minutes(1), boost::asio::use_future);
  EXPECT_TRUE(two->barrier(minutes(1)).ok());
  EXPECT_TRUE(done.get().ok());
  EXPECT_EQ(nodes[0]->open("").status().code, Code::kInvalid);
}

TEST(EmbeddedNode, GroupsWithATreeOfTheirOwn) {
  const Nodes nodes = start_nodes(3, false);
  ASSERT_EQ(nodes.size(), 3u);
  const GivenTree chain = {.parents = {1, 2, kNoRank}, .order = {}};
  const Status made = nodes[0]->create_group({.name = "chain", .nodes = {0, 1, 2}, .tree = chain});
  ASSERT_TRUE(made.ok()) << made.sentence;
  std::vector<std::future<Outcome>> others;
  for (const int i : {0, 1}) {
    auto group = nodes[i]->open("chain");
    ASSERT_TRUE(group.ok()) << group.status().sentence;
    others.push_back(group->async_multicast(2, {}, minutes(1), boost::asio::use_future));
  }
  auto root = nodes[2]->open("chain");
  ASSERT_TRUE(root.ok()) << root.status().sentence;
  EXPECT_TRUE(root->multicast(2, bytes("along"), minutes(1)).ok());
  for (auto& other : others) EXPECT_EQ(text(other.get().payload), "along");
  const Status two_roots =
      nodes[0]->create_group({.name = "bad", .nodes = {0, 1}, .tree = GivenTree{{kNoRank, kNoRank}, {}}});
  EXPECT_EQ(two_roots.code, Code::kInvalid);
}

TEST(EmbeddedNode, AHandlerOnItsThreadMustNotBlock) {
  const Nodes nodes = start_nodes(1, false);
  ASSERT_EQ(nodes.size(), 1u);
  auto group = nodes[0]->open("all");
  std::promise<Code> code;
  group->async_barrier(minutes(1), [&](Outcome) { code.set_value(group->barrier(minutes(1)).status.code); });
  EXPECT_EQ(code.get_future().get(), Code::kInvalid);
}

TEST(EmbeddedNode, StoppingCancels) {
  Nodes nodes = start_nodes(2, false);
  ASSERT_EQ(nodes.size(), 2u);
  boost::asio::io_context context;
  std::future<Received> pending;
  {
    auto options = options_of(free_loopback_addresses(1), 0, false);
    options.executor = context.get_executor();
    auto node = EmbeddedNode::start(options);
    ASSERT_TRUE(node.ok()) << node.status().sentence;
    pending = node.value()->async_receive(1, minutes(1), boost::asio::use_future);
  }
  context.run();
  EXPECT_EQ(pending.get().status.code, Code::kCancelled);
}

TEST(EmbeddedNode, WrongSettingsAreOneSentence) {
  EXPECT_EQ(EmbeddedNode::start(options_of({"127.0.0.1:1", "nonsense"}, 0, false)).status().code, Code::kInvalid);
  EXPECT_EQ(EmbeddedNode::start(options_of({"127.0.0.1:7117"}, 3, false)).status().code, Code::kInvalid);
}

}  // namespace
}  // namespace fibocast
