// How daemons that know only a name find their ranks, and keep them.
#include "runtime/daemon/discovery.h"

#include <algorithm>

#include "tests/runtime/daemon/discovery_fixture.h"

namespace fibocast {
namespace {

using Kind = DiscoveryMessage::Kind;

TEST_F(DiscoveryTest, RanksAreByAddressWhoeverComesFirst) {
  Box &c = add(30), &a = add(4), &b = add(21);
  ASSERT_TRUE(until([&] { return all_members(); }, 10));
  EXPECT_EQ(a.process->rank(), 0u);
  EXPECT_EQ(b.process->rank(), 1u);
  EXPECT_EQ(c.process->rank(), 2u);
  EXPECT_EQ(b.process->list().members[2].node, "10.0.0.30:7117");
}

TEST_F(DiscoveryTest, RanksAreByTheNumbersOfHostNames) {
  Box &two = add(1, "node-2"), &zero = add(2, "node-0"), &one = add(3, "node-1");
  ASSERT_TRUE(until([&] { return all_members(); }, 10));
  EXPECT_EQ(zero.process->rank(), 0u);
  EXPECT_EQ(one.process->rank(), 1u);
  EXPECT_EQ(two.process->rank(), 2u);
}

TEST_F(DiscoveryTest, AResolverThatGivesAPartEachTimeIsEnough) {
  expect_ = 150;
  most_named_ = 29;
  for (int i = 1; i <= 150; ++i) add(i, i == 100 ? "n-0" : "n-" + std::to_string(i < 100 ? i : i - 1));
  ASSERT_TRUE(until([&] { return all_members(); }, 120));
  EXPECT_EQ(boxes_[99].process->rank(), 0u);
}

TEST_F(DiscoveryTest, NothingFormsBeforeAllExpectedOnesAreThere) {
  Box& a = add(1);
  add(2);
  ticks(30);
  EXPECT_FALSE(a.process->is_member());
  EXPECT_EQ(a.process->waits_for(), "waits for others: 2 of node.expect = 3 are here");
  add(3);
  EXPECT_TRUE(until([&] { return all_members(); }, 10));
}

TEST_F(DiscoveryTest, WhoDoesNotAgreeIsGivenUpAndTheListMadeAnew) {
  Box &a = add(1), &b = add(2);
  Box* c = &add(3);
  before_ = [&](const DiscoveryMessage& message) {
    if (message.kind == Kind::kPropose && c) remove(*std::exchange(c, nullptr));
  };
  ticks(5);
  EXPECT_EQ(b.disk.list.proposer, a.disk.id) << "it has agreed";
  EXPECT_FALSE(is_member(b));
  Box& d = add(4);
  ASSERT_TRUE(until([&] { return is_member(a) && is_member(b) && is_member(d); }, 60));
  EXPECT_EQ(d.process->rank(), 2u);
}

TEST_F(DiscoveryTest, AProposerThatIsStartedAgainGoesOn) {
  Box& a = add(1);
  add(2), add(3);
  int accepts = 0;
  swallow_ = [&](const DiscoveryMessage& message) { return message.kind == Kind::kAccept && ++accepts < 3; };
  ASSERT_TRUE(until([&] { return a.disk.list.cluster != 0; }, 10));
  kill(a);
  ticks(50);
  start(a);
  EXPECT_TRUE(until([&] { return all_members(); }, 10));
}

class Formed : public DiscoveryTest {
 protected:
  void SetUp() override {
    for (int i = 1; i <= 3; ++i) boxes[i - 1] = &add(i);
    ASSERT_TRUE(until([&] { return all_members(); }, 10));
  }
  Box* boxes[3];
};

TEST_F(Formed, WhoComesBackElsewhereHasItsRankAndTheOthersKnow) {
  kill(*boxes[1]);
  move(*boxes[1], 99);
  start(*boxes[1]);
  ASSERT_TRUE(until([&] { return is_member(*boxes[1]); }, 10));
  EXPECT_EQ(boxes[1]->process->rank(), 1u);
  EXPECT_EQ(boxes[0]->moved[1], "10.0.0.99");
  ASSERT_TRUE(until([&] { return boxes[2]->moved[1] == "10.0.0.99"; }, 10));
  EXPECT_EQ(boxes[2]->process->list().members[1].node, "10.0.0.2:7117") << "its entry in cluster.nodes stays";
}

TEST_F(Formed, ALowerAddressChangesNoRank) {
  kill(*boxes[2]);
  move(*boxes[2], 0);
  start(*boxes[2]);
  ASSERT_TRUE(until([&] { return all_members(); }, 10));
  EXPECT_EQ(boxes[2]->process->rank(), 2u);
}

TEST_F(Formed, AllMayBeStartedAgainWithOtherAddresses) {
  for (Box* box : boxes) kill(*box);
  for (int i = 0; i < 3; ++i) move(*boxes[i], 3 - i);
  for (int i = 2; i >= 0; --i) start(*boxes[i]);
  ASSERT_TRUE(until([&] { return all_members(); }, 20));
  for (NodeId rank = 0; rank < 3; ++rank) EXPECT_EQ(boxes[rank]->process->rank(), rank);
}

TEST_F(Formed, WhoComesBackWaitsForRankZerosWord) {
  kill(*boxes[0]);
  kill(*boxes[1]);
  start(*boxes[1]);
  ticks(100);
  EXPECT_FALSE(is_member(*boxes[1]));
  EXPECT_NE(boxes[1]->process->waits_for().find("asks rank 0 (10.0.0.1:7117)"), std::string::npos);
  start(*boxes[0]);
  EXPECT_TRUE(until([&] { return all_members(); }, 10));
}

TEST_F(Formed, AnUnknownOneGetsNoRankWhileAllAreThereOrMayComeBack) {
  Box& stranger = add(50);
  ticks(50);
  EXPECT_FALSE(is_member(stranger));
  kill(*boxes[1]);  // but its container is still there
  ticks(50);
  EXPECT_FALSE(is_member(stranger));
  start(*boxes[1]);
  EXPECT_TRUE(until([&] { return is_member(*boxes[1]); }, 10));
}

TEST_F(Formed, AnUnknownOneGetsTheRankOfOneThatIsGone) {
  remove(*boxes[1]);
  Box& stranger = add(50);
  ASSERT_TRUE(until([&] { return is_member(stranger); }, 60));
  EXPECT_EQ(stranger.process->rank(), 1u);
  EXPECT_EQ(boxes[2]->moved[1], "10.0.0.50");
  start(*boxes[1]);  // it was not gone for ever
  ticks(50);
  EXPECT_FALSE(is_member(*boxes[1]));
  remove(*boxes[2]);
  ASSERT_TRUE(until([&] { return is_member(*boxes[1]); }, 60)) << "it is a new one";
  EXPECT_EQ(boxes[1]->process->rank(), 2u);
}

TEST_F(Formed, AnAddressThatWentToTheNewOneIsNotTheOldOnes) {
  remove(*boxes[2]);
  Box& stranger = add(3);
  EXPECT_TRUE(until([&] { return is_member(stranger); }, 60));
}

TEST_F(Formed, WhoWasCutOffAndReplacedEnds) {
  boxes[1]->cut_off = true;
  boxes[1]->in_name = false;
  Box& stranger = add(50);
  ASSERT_TRUE(until([&] { return is_member(stranger); }, 60));
  boxes[1]->cut_off = false;
  boxes[1]->process->on_message(boxes[0]->at, {Kind::kList, boxes[0]->disk.id, 7117, true, "-", boxes[0]->disk.list});
  EXPECT_TRUE(boxes[1]->replaced);
}

TEST_F(DiscoveryTest, TheSameHostNameIsAProof) {
  add(1, "n-0");
  add(2, "n-1");
  Box& old = add(3, "n-2");
  ASSERT_TRUE(until([&] { return all_members(); }, 10));
  kill(old);  // the name still has its address, as where names are kept for a while
  Box& fresh = add(4, "n-2");
  ASSERT_TRUE(until([&] { return is_member(fresh); }, 60));
  EXPECT_EQ(fresh.process->rank(), 2u);
}

// Messages are lost, daemons die and come back elsewhere, and there are more of them than expected, so that several
// think that they are the first; not twice as many, so that two lists always have a member in common. check() holds
// after every message, and when the trouble is over the expected number has ranks.
TEST_F(DiscoveryTest, LossAndRestartsNeverFormTwoClustersNorGiveARankTwice) {
  for (std::uint64_t seed = 1; seed <= (FIBOCAST_SANITIZED ? 60 : 300) && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    remove_all();
    random_.seed(seed);
    expect_ = 2 + seed % 5;
    loss_ = 0.3;
    const auto daemons = expect_ + seed % std::min(expect_, 3u);
    most_named_ = 1 + random_() % daemons;
    for (std::uint32_t i = 0; i < daemons; ++i) add(10 * static_cast<int>(1 + i));
    std::set<Box*> dead;
    before_ = [&](const DiscoveryMessage&) {
      if (random_() % 40 == 0) dead.insert(&boxes_[random_() % boxes_.size()]);
    };
    for (int i = 0; i < 80; ++i) {
      ticks(1);
      for (Box* box : std::exchange(dead, {})) {
        kill(*box);
        if (random_() % 3 == 0) move(*box, box->home + static_cast<int>(random_() % 9));
        start(*box);
      }
    }
    before_ = [](const DiscoveryMessage&) {};
    loss_ = 0;
    const auto members = [this] {
      return std::count_if(boxes_.begin(), boxes_.end(), [this](const Box& box) { return is_member(box); });
    };
    ASSERT_TRUE(until([&] { return members() == expect_; }, 400));
  }
}

// Containers are removed with their disks and replaced by new ones, others are started again, messages are lost.
TEST_F(DiscoveryTest, RanksThatAreGivenAwayAreNeverTwoDaemons) {
  for (std::uint64_t seed = 1; seed <= (FIBOCAST_SANITIZED ? 20 : 100) && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    remove_all();
    random_.seed(seed);
    expect_ = 4;
    loss_ = 0;
    for (int i = 1; i <= 4; ++i) add(i);
    ASSERT_TRUE(until([&] { return all_members(); }, 20));
    loss_ = 0.3;
    for (int round = 0; round < 40; ++round) {
      ticks(static_cast<int>(random_() % 8));
      Box& box = boxes_[1 + random_() % (boxes_.size() - 1)];
      if (!box.process) continue;
      if (random_() % 2 == 0) {
        remove(box);
        add(random_() % 2 == 0 ? box.home : 5 + round);
      } else {
        kill(box);
        move(box, 100 + round);
        start(box);
      }
    }
    loss_ = 0;
    const auto is_in = [this](const Box& box) { return !box.process || is_member(box); };
    ASSERT_TRUE(until([&] { return std::all_of(boxes_.begin(), boxes_.end(), is_in); }, 200));
  }
}

}  // namespace
}  // namespace fibocast
