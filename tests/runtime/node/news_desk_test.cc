// NewsDesk: who is told of what, once, and in its latest form.
#include "runtime/node/news_desk.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <utility>
#include <vector>

namespace fibocast {
namespace {

constexpr Limits kLimits{};

struct Desk {
  explicit Desk(std::uint32_t nodes, NodeId self = 0)
      : memory(NewsDesk::bytes_needed(kLimits) / sizeof(std::max_align_t) + 1),
        desk(kLimits, self, nodes, 1000 + self,
             {reinterpret_cast<std::byte*>(memory.data()), NewsDesk::bytes_needed(kLimits)}) {
    for (NodeId n = 0; n < nodes; ++n) {
      if (n == self) continue;
      desk.start_over(n, 1000 + n);
      desk.set_present(n, true);
    }
  }
  std::vector<NodeId> told(NodeId subject) {
    std::vector<NodeId> all;
    NodeId to;
    News news;
    while (desk.poll(to, news)) {
      EXPECT_EQ(news.subject, subject);
      all.push_back(to);
    }
    return all;
  }
  std::vector<std::max_align_t> memory;
  NewsDesk desk;
};

News lost(NodeId subject) { return {subject, 1000 + subject, 0, Belief::kLost}; }

TEST(NodeQueue, HoldsEachOnceInTheOrderOfArrival) {
  std::array<NodeId, 4> links;
  NodeQueue queue(links);
  for (NodeId n : {2u, 0u, 2u, 3u, 0u}) queue.push(n);
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_EQ(queue.front(), 2u);
  EXPECT_EQ(queue.pop(), 2u);
  queue.push(2);
  EXPECT_EQ(queue.pop(), 0u);
  EXPECT_EQ(queue.pop(), 3u);
  EXPECT_EQ(queue.pop(), 2u);
  EXPECT_EQ(queue.size(), 0u);
  queue.push(1);
  EXPECT_EQ(queue.pop(), 1u);
}

TEST(NewsDesk, FingersAreTheNextTwoAndPowersOfTwo) {
  Desk d(40, 30);
  d.desk.tell_fingers(5);
  // 5 is alive, which is no news for itself; 30 + 16 and + 32 go round the ring.
  EXPECT_EQ(d.told(5), (std::vector<NodeId>{31, 32, 34, 38, 6, 22}));
}

TEST(NewsDesk, EverybodyIsReachedFromEverywhere) {
  for (std::uint32_t nodes : {2u, 3u, 5u, 16u, 37u, 250u}) {
    std::set<NodeId> reached{0};
    std::vector<NodeId> open{0};
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      Desk d(nodes, at);
      d.desk.tell_fingers(at);
      for (NodeId n : d.told(at))
        if (reached.insert(n).second) open.push_back(n);
    }
    EXPECT_EQ(reached.size(), nodes);
  }
}

TEST(NewsDesk, OnlyLaterNewsAreLearned) {
  Desk d(8);
  EXPECT_TRUE(d.desk.learn(lost(3), kNoNode));
  EXPECT_FALSE(d.desk.learn(lost(3), kNoNode));
  EXPECT_FALSE(d.desk.learn({3, 1003, 0, Belief::kSuspect}, kNoNode));
  EXPECT_TRUE(d.desk.learn({3, 1003, 1, Belief::kAlive}, kNoNode));
  EXPECT_EQ(d.desk.latest(3), (News{3, 1003, 1, Belief::kAlive}));
}

TEST(NewsDesk, TheTellerIsNotToldAndNobodyTwice) {
  Desk d(8);
  d.desk.learn(lost(3), 2);
  d.desk.tell_successor(3);
  EXPECT_EQ(d.told(3), (std::vector<NodeId>{1, 4}));
  EXPECT_EQ(d.told(3), (std::vector<NodeId>{}));
}

TEST(NewsDesk, TheAbsentAreNotToldAndTheNextStandIn) {
  Desk d(8);
  for (NodeId n : {1u, 4u}) d.desk.set_present(n, false);
  EXPECT_EQ(d.desk.successor(), 2u);
  d.desk.learn(lost(1), kNoNode);
  EXPECT_EQ(d.told(1), (std::vector<NodeId>{2, 3}));
  EXPECT_EQ(d.desk.present_after(3), 5u);
  EXPECT_EQ(d.desk.present_after(7), kNoNode);
}

TEST(NewsDesk, ASubjectAnAskerAndManyAccusersAreAnswered) {
  Desk d(8);
  d.desk.learn(lost(3), kNoNode);
  d.told(3);
  d.desk.tell_subject(3);
  d.desk.answer(6, 3);
  EXPECT_EQ(d.told(3), (std::vector<NodeId>{3, 6}));
  for (NodeId accuser : {7u, 5u, 2u}) d.desk.answer(accuser, 0);
  EXPECT_EQ(d.told(0), (std::vector<NodeId>{7, 5, 2}));
}

TEST(NewsDesk, ANewIncarnationOwesNothing) {
  Desk d(8);
  d.desk.learn(lost(3), kNoNode);
  d.desk.start_over(3, 77);
  EXPECT_EQ(d.told(3), (std::vector<NodeId>{}));
  EXPECT_EQ(d.desk.latest(3), (News{3, 77, 0, Belief::kAlive}));
}

TEST(NewsDesk, WhoCannotBeToldHoldsUpNobodyElse) {
  Desk d(8);
  d.desk.learn(lost(3), kNoNode);
  NodeId to;
  News news;
  ASSERT_TRUE(d.desk.poll(to, news));
  EXPECT_EQ(d.desk.could_not_tell(), to);
  EXPECT_EQ(d.told(3), (std::vector<NodeId>{2, 4}));
  d.desk.unblock(to);
  EXPECT_EQ(d.told(3), (std::vector<NodeId>{to}));
}

TEST(NewsDesk, WhoWasAddedIsAFinger) {
  Desk d(2);
  d.desk.grow(4);
  d.desk.start_over(3, 1003);
  d.desk.set_present(3, true);
  d.desk.learn(lost(1), kNoNode);
  EXPECT_EQ(d.told(1), (std::vector<NodeId>{1, 3}));
}

}  // namespace
}  // namespace fibocast
