// What a newer node may say: each value that is not known here is left out, and the message is read all the same.
#include "runtime/node/peer_message.h"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/node/group_policy.h"

namespace fibocast {
namespace {

std::vector<std::byte> bytes_of(const PeerMessage& m) {
  std::vector<std::byte> bytes(kMaxPeerMessage);
  bytes.resize(encode_peer_message(m, bytes));
  return bytes;
}

// In a message about an operation.
enum At : std::size_t { kOperation = 17, kAlgorithm = 18, kTree = 19, kElement = 22, kOperator = 23 };

PeerMessage verdict_request() {
  PeerMessage m;
  m.type = PeerMessageType::kVerdictRequest;
  m.generation = 7, m.operation = Operation::kAllreduce, m.choice = {Algorithm::kRing};
  m.element = ElementType::kDouble, m.op = CombineOperator::kMax;
  return m;
}

TEST(PeerMessageOfANewerNode, NamesAnOperationThatIsLeftOut) {
  const std::vector<std::byte> known = bytes_of(verdict_request());
  const auto read = decode_peer_message(known);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->understood);
  EXPECT_EQ(read->choice, AlgorithmChoice{Algorithm::kRing});
  for (const std::size_t at : {kOperation, kAlgorithm, kElement, kOperator})
    for (unsigned value = 0; value < 256; ++value) {
      std::vector<std::byte> bytes = known;
      bytes[at] = std::byte(value);
      const auto m = decode_peer_message(bytes);
      ASSERT_TRUE(m) << at << ": " << value;
      EXPECT_EQ(m->generation, 7u);
      EXPECT_TRUE(is_operation(m->operation) && is_known(m->operation, m->choice)) << at << ": " << value;
      EXPECT_TRUE(m->element <= ElementType::kDouble && m->op <= CombineOperator::kXor) << at << ": " << value;
      if (value > 100) EXPECT_FALSE(m->understood) << at << ": " << value;
      EXPECT_TRUE(m->understood || m->choice == AlgorithmChoice{});
    }
}

TEST(PeerMessageOfANewerNode, NamesAVerdictThatIsNoSuccess) {
  PeerMessage m = verdict_request();
  m.type = PeerMessageType::kVerdict;
  for (unsigned value = 0; value < 256; ++value) {
    m.verdict = static_cast<Verdict>(value);
    const auto read = decode_peer_message(bytes_of(m));
    ASSERT_TRUE(read) << value;
    EXPECT_EQ(read->verdict, value <= 9 ? m.verdict : Verdict::kMismatch) << value;
  }
}

TEST(PeerMessageOfANewerNode, BringsAPlanThatIsLeftOut) {
  PeerMessage define;
  define.type = PeerMessageType::kGroupDefine;
  define.ranks.add_run({0, 4});
  const std::vector<std::byte> known = bytes_of(define);
  ASSERT_TRUE(decode_peer_message(known)->understood);
  constexpr std::size_t kBehindPlan = 7;
  const std::size_t first = known.size() - kBehindPlan - kPlannedOperations * kSizeClasses;
  for (std::size_t at = first; at < known.size() - kBehindPlan; ++at)
    for (unsigned value = 0; value < 256; ++value) {
      std::vector<std::byte> bytes = known;
      bytes[at] = std::byte(value);
      const auto m = decode_peer_message(bytes);
      ASSERT_TRUE(m) << at << ": " << value;
      EXPECT_TRUE(is_valid(m->plan)) << at << ": " << value;
      if (value >= 20 && value < 32) EXPECT_FALSE(m->understood) << at << ": " << value;
    }
  define.plan.distribution.kind = static_cast<TreeKind>(7);
  const auto other_tree = decode_peer_message(bytes_of(define));
  ASSERT_TRUE(other_tree);
  EXPECT_FALSE(other_tree->understood);
  EXPECT_TRUE(is_valid(other_tree->plan));
  std::vector<std::byte> other_policy = known;
  other_policy[known.size() - 5] = std::byte{9};
  ASSERT_TRUE(decode_peer_message(other_policy));
  EXPECT_FALSE(decode_peer_message(other_policy)->understood);
}

// What no version may say is refused as before.
TEST(PeerMessageOfANewerNode, IsNoExcuseForWhatCannotBe) {
  PeerMessage define;
  define.type = PeerMessageType::kGroupDefine;
  define.ranks.add_run({0, 4});
  define.plan.reduction.s = 0;
  EXPECT_FALSE(decode_peer_message(bytes_of(define)));
  define.plan.reduction.s = 1, define.participants = 0;
  EXPECT_FALSE(decode_peer_message(bytes_of(define)));
  std::vector<std::byte> bytes = bytes_of(verdict_request());
  bytes[0] = std::byte{200};
  EXPECT_FALSE(decode_peer_message(bytes));
  bytes = bytes_of(verdict_request());
  bytes.pop_back();
  EXPECT_FALSE(decode_peer_message(bytes));
}

// An older node says neither which creation a group is of nor that it is unfinished, and reads what a newer one says.
TEST(PeerMessageOfANewerNode, SaysAtItsEndThatAGroupIsUnfinished) {
  PeerMessage define;
  define.type = PeerMessageType::kGroupDefine;
  define.ranks.add_run({0, 4});
  const std::size_t older = bytes_of(define).size();
  define.creation = 77;
  const std::size_t finished = bytes_of(define).size();
  define.unfinished = true;
  const std::vector<std::byte> all = bytes_of(define);
  EXPECT_TRUE(decode_peer_message(all)->unfinished);
  EXPECT_EQ(decode_peer_message(all)->creation, 77u);
  EXPECT_FALSE(decode_peer_message(std::span(all).first(finished))->unfinished);
  EXPECT_EQ(decode_peer_message(std::span(all).first(older))->creation, kUnknownCreation);
}

TEST(PeerMessageOfAnOlderNode, DoesNotTellWhatIsAppended) {
  PeerMessage refusal;
  refusal.type = PeerMessageType::kGroupUnknown;
  EXPECT_FALSE(decode_peer_message(bytes_of(refusal))->of_epoch);
  refusal.of_epoch = 7;
  std::vector<std::byte> bytes = bytes_of(refusal);
  EXPECT_EQ(decode_peer_message(bytes)->of_epoch, 7u);
  bytes.resize(bytes.size() - sizeof(Epoch));
  ASSERT_TRUE(decode_peer_message(bytes));
  EXPECT_FALSE(decode_peer_message(bytes)->of_epoch);
}

RankSet scattered() {
  RankSet ranks;
  for (Rank r = 0; r < 2 * RankSet::kMaxRuns; r += 2) ranks.add(r);
  return ranks;
}

// What is appended comes last, and must not be cut off where all the rest is as long as it can be.
TEST(PeerMessages, OfTheMostBytesFit) {
  const std::vector<std::byte> outcomes(24), with_members(24 + kMostShrinkingMembers / 8);
  PeerMessage stopped;
  stopped.type = PeerMessageType::kEpochStopped;
  stopped.piece = with_members, stopped.let_go = 7;
  EXPECT_EQ(decode_peer_message(bytes_of(stopped))->let_go, 7u);
  PeerMessage install;
  install.type = PeerMessageType::kEpochInstall;
  install.piece = outcomes, install.ranks = scattered(), install.let_go = 7;
  EXPECT_EQ(decode_peer_message(bytes_of(install))->let_go, 7u);
  PeerMessage define;
  define.type = PeerMessageType::kGroupDefine;
  define.name_length = 38, define.ranks = scattered(), define.creation = 7, define.unfinished = true;
  ASSERT_TRUE(has_room_for_creation(define.name_length, define.ranks));
  EXPECT_TRUE(decode_peer_message(bytes_of(define))->unfinished);
  EXPECT_FALSE(has_room_for_creation(define.name_length + 1u, define.ranks));
  PeerMessage refusal = verdict_request();
  refusal.type = PeerMessageType::kGroupUnknown, refusal.of_epoch = 7;
  EXPECT_EQ(decode_peer_message(bytes_of(refusal))->of_epoch, 7u);
}

RankSet set_of(std::initializer_list<RankSet::Run> runs) {
  RankSet set;
  for (const RankSet::Run& run : runs) set.add_run(run);
  return set;
}

TEST(RankSets, AreJoined) {
  EXPECT_EQ(joined({}, {}), RankSet());
  EXPECT_EQ(joined(set_of({{2, 1}}), {}), set_of({{2, 1}}));
  EXPECT_EQ(joined(set_of({{2, 1}, {9, 2}}), set_of({{0, 2}, {10, 5}})), set_of({{0, 3}, {9, 6}}));
  EXPECT_EQ(joined(set_of({{0, 9}}), set_of({{2, 3}, {20, 1}})), set_of({{0, 9}, {20, 1}}));
  RankSet even, odd;
  for (Rank r = 0; r < 2 * RankSet::kMaxRuns; r += 2) even.add(r), odd.add(r + 1);
  EXPECT_EQ(joined(even, odd).size(), 2 * RankSet::kMaxRuns);
  EXPECT_TRUE(joined(even, set_of({{100, 1}})).truncated());
}

}  // namespace
}  // namespace fibocast
