// What the checkers make of nodes that crash, sleep or are cut off: nothing that such a history must not contain is
// excused, and what it may contain is no finding.
#include "firmware_sim/checkers/checkers.h"
#include "tests/firmware_sim/checkers/story.h"

namespace fibocast {
namespace {

using Kind = Fault::Kind;
using test::kBytes;
using test::Story;

Fault from_to(Kind kind, Nanoseconds begins, Nanoseconds heals, NodeId node) {
  return {.kind = kind, .begins = begins, .heals = heals, .nodes = {node}};
}

// ---- liveness

TEST(LivenessChecker, OwesTheDeadNothingAndTheRebornTheirNewCalls) {
  Story died;
  died.arrive(1, 0);
  died.crash(1);
  EXPECT_EQ(check_liveness(died.history), Findings{});
  died.done(1, 0, Verdict::kPeerLost, {1});  // of its former life
  EXPECT_EQ(check_liveness(died.history).size(), 1u);

  Story reborn;
  reborn.arrive(1, 0);
  reborn.crash(1);
  reborn.arrive(1, 0);
  EXPECT_EQ(check_liveness(reborn.history).size(), 1u);
  reborn.done(1, 0, Verdict::kPeerLost, {1});
  EXPECT_EQ(check_liveness(reborn.history), Findings{});

  Story other;  // node 0 still waits
  other.arrive(0, 0);
  other.crash(1);
  EXPECT_EQ(check_liveness(other.history).size(), 1u);
}

// Node 1 calls at 1 us with a deadline at 2 us and is answered at 20 us.
Story answered_late(const std::vector<Fault>& faults) {
  Story s;
  s.history.faults = faults;
  s.arrive(1, 0).deadline = 2'000;
  s.now = 19'000;
  s.done(1, 0, Verdict::kDeadlineExceeded, {0});
  return s;
}

TEST(LivenessChecker, WhoSleepsAnswersWhenItWakes) {
  EXPECT_EQ(check_liveness(answered_late({}).history).size(), 1u);
  EXPECT_EQ(check_liveness(answered_late({from_to(Kind::kPause, 1'500, 19'500, 1)}).history), Findings{});
  // It woke long before; another one slept; it fell asleep after the grace.
  EXPECT_EQ(check_liveness(answered_late({from_to(Kind::kPause, 1'500, 5'000, 1)}).history).size(), 1u);
  EXPECT_EQ(check_liveness(answered_late({from_to(Kind::kPause, 1'500, 19'500, 0)}).history).size(), 1u);
  EXPECT_EQ(check_liveness(answered_late({from_to(Kind::kPause, 4'000, 19'500, 1)}).history).size(), 1u);
  // One pause after the other.
  EXPECT_EQ(
      check_liveness(
          answered_late({from_to(Kind::kPause, 1'500, 5'000, 1), from_to(Kind::kPause, 5'500, 19'500, 1)}).history),
      Findings{});
}

// ---- generations, multicasts

TEST(GenerationOrderChecker, StartsAnewAfterACrashOfThatNode) {
  for (const NodeId dead : {0u, 1u}) {
    Story s;
    s.good_barrier(4);
    s.crash(dead);
    s.arrive(1, 0);
    s.done(1, 0, Verdict::kStale);
    EXPECT_EQ(check_generation_order(s.history).size(), dead == 1 ? 0u : 1u);
  }
}

TEST(MulticastChecker, AnIncarnationReceivesAMulticastOnce) {
  for (const NodeId dead : {0u, 1u}) {
    Story s;
    s.multicast_sent(0);
    s.multicast_received(0, kBytes);
    s.crash(dead);
    s.multicast_received(0, kBytes);
    EXPECT_EQ(check_multicast(s.history).size(), dead == 1 ? 0u : 1u);
    s.multicast_received(0, kBytes);
    EXPECT_EQ(check_multicast(s.history).size(), dead == 1 ? 1u : 2u);
  }
}

TEST(ReleaseChecker, ACrashIsNoArrival) {
  Story s;
  s.arrive(0, 0);
  s.crash(1);
  s.done(0, 0);
  EXPECT_EQ(check_release(s.history).size(), 1u);
}

// ---- success

// All come, and then node 0 is told that it failed.
Story failed_after(const std::vector<NodeId>& crashes, const std::vector<Fault>& faults = {}) {
  Story s;
  s.history.groups.push_back({"others", {2}, 1});
  s.history.faults = faults;
  s.arrive(0, 0);
  s.arrive(1, 0);
  for (const NodeId node : crashes) s.crash(node);
  s.done(0, 0, Verdict::kPeerLost, {1});
  return s;
}

TEST(SuccessChecker, ExcusesAMembersCrashOnly) {
  EXPECT_EQ(check_success(failed_after({}).history).size(), 1u);
  EXPECT_EQ(check_success(failed_after({1}).history), Findings{});
  EXPECT_EQ(check_success(failed_after({2}).history).size(), 1u);  // in no group of this operation

  Story before;  // it was over by then
  before.crash(1);
  before.arrive(0, 0);
  before.arrive(1, 0);
  before.done(0, 0, Verdict::kPeerLost, {1});
  EXPECT_EQ(check_success(before.history).size(), 1u);
}

TEST(SuccessChecker, ExcusesWhatIsLongEnoughToBeLost) {
  EXPECT_EQ(check_success(failed_after({}, {from_to(Kind::kPartition, 0, 2 * kSecond, 1)}).history), Findings{});
  EXPECT_EQ(check_success(failed_after({}, {from_to(Kind::kPause, 0, 2 * kSecond, 1)}).history), Findings{});
  EXPECT_EQ(check_success(failed_after({}, {from_to(Kind::kPause, 0, 2 * kSecond, 2)}).history).size(), 1u);
  EXPECT_EQ(check_success(failed_after({}, {from_to(Kind::kPartition, 0, 5'000, 1)}).history).size(), 1u);
}

TEST(SuccessChecker, ExcusesMessagesThatTakeAsLongAsSuspicionOnly) {
  Fault reorder = from_to(Kind::kReorder, 0, 2 * kSecond, 1);
  reorder.time = Story{}.history.suspicion / 2;
  EXPECT_EQ(check_success(failed_after({}, {reorder}).history), Findings{});
  reorder.time -= 1;
  EXPECT_EQ(check_success(failed_after({}, {reorder}).history).size(), 1u);
  reorder.time = Story{}.history.suspicion, reorder.heals = 5'000;
  EXPECT_EQ(check_success(failed_after({}, {reorder}).history).size(), 1u);
}

TEST(SuccessChecker, TakesTroublesThatOverlapForOne) {
  const Nanoseconds part = Story{}.history.suspicion / 3;
  const Fault partition = from_to(Kind::kPartition, 0, part, 1);
  EXPECT_EQ(check_success(failed_after({}, {from_to(Kind::kOneWay, part / 2, 2 * part, 1), partition}).history),
            Findings{});
  EXPECT_EQ(check_success(failed_after({}, {from_to(Kind::kOneWay, part + 1, 2 * part, 1), partition}).history).size(),
            1u);
}

TEST(SuccessChecker, ExcusesHeavyLossWhereThePlanChangesOnly) {
  const auto findings = [](double probability, Nanoseconds heals, NodeId node, bool replanned) {
    Fault loss = from_to(Kind::kLoss, 0, heals, node);
    loss.probability = probability;
    Story s = failed_after({}, {loss});
    s.history.groups[0].replanned = replanned;
    return check_success(s.history).size();
  };
  EXPECT_EQ(findings(0.5, 2 * kSecond, 1, true), 0u);
  EXPECT_EQ(findings(0.5, 2 * kSecond, 1, false), 1u);
  EXPECT_EQ(findings(0.4, 2 * kSecond, 1, true), 1u);
  EXPECT_EQ(findings(0.5, 5'000, 1, true), 1u);
  EXPECT_EQ(findings(0.5, 2 * kSecond, 2, true), 1u);
}

// ---- losses

TEST(LossChecker, NoticesWhoWasThereAndIsCalledLost) {
  EXPECT_EQ(check_losses(failed_after({}).history).size(), 1u);
  EXPECT_EQ(check_losses(failed_after({}, {from_to(Kind::kPartition, 0, 3 * kSecond, 0)}).history), Findings{});
  EXPECT_EQ(check_losses(failed_after({}, {from_to(Kind::kCrash, 0, 1'000, 1)}).history), Findings{});
  EXPECT_EQ(check_losses(failed_after({}, {from_to(Kind::kPause, 0, 1'000, 1)}).history).size(), 1u);  // a nap
  EXPECT_EQ(check_losses(failed_after({}, {from_to(Kind::kCrash, 0, 1'000, 2)}).history).size(), 1u);

  Story nobody;
  nobody.arrive(0, 0);
  nobody.done(0, 0, Verdict::kPeerLost);
  EXPECT_EQ(check_losses(nobody.history).size(), 1u);
}

// ---- verdicts on both sides of a split

Story split_verdicts(const std::vector<Fault>& faults) {
  Story s;
  s.history.faults = faults;
  s.arrive(0, 0);
  s.arrive(1, 0);
  s.now = 9'000;
  s.done(0, 0, Verdict::kPeerLost, {1});
  s.done(1, 0, Verdict::kPeerLost, {0});
  return s;
}

TEST(VerdictChecker, LetsThemDifferAcrossASplitOnly) {
  EXPECT_EQ(check_verdicts(split_verdicts({}).history).size(), 1u);
  for (const Kind kind : {Kind::kPartition, Kind::kOneWay, Kind::kPause, Kind::kCrash})
    EXPECT_EQ(check_verdicts(split_verdicts({from_to(kind, 5'000, kNever, 1)}).history), Findings{});
  EXPECT_EQ(check_verdicts(split_verdicts({from_to(Kind::kPartition, 50'000, kNever, 1)}).history).size(), 1u);
  EXPECT_EQ(check_verdicts(split_verdicts({loss(0.9)}).history).size(), 1u);  // no excuse
  EXPECT_EQ(check_verdicts(split_verdicts({from_to(Kind::kDelay, 0, kNever, 1)}).history).size(), 1u);
}

TEST(VerdictChecker, OkAndPeerLostNeverMix) {
  Story s;
  s.arrive(0, 0);
  s.arrive(1, 0);
  s.done(0, 0);
  s.done(1, 0, Verdict::kPeerLost, {0});
  EXPECT_EQ(check_verdicts(s.history).size(), 1u);
}

// ---- what they have in common

TEST(Troubled, IsWhoWasCutOffOrNotThereInThatTime) {
  History h;
  h.grace = 100;
  h.faults = {from_to(Kind::kPause, 1'000, 2'000, 1)};
  EXPECT_TRUE(troubled(h, 1, 500, 1'000));
  EXPECT_FALSE(troubled(h, 1, 500, 999));
  EXPECT_TRUE(troubled(h, 1, 2'100, 3'000));  // it takes a while to recover
  EXPECT_FALSE(troubled(h, 1, 2'101, 3'000));
  EXPECT_FALSE(troubled(h, 0, 500, 3'000));
  EXPECT_TRUE(troubled(h, 1, 500, 3'000, 1'000));
  EXPECT_FALSE(troubled(h, 1, 500, 3'000, 1'001));  // too short
  h.faults = {from_to(Kind::kPartition, 1'000, kNever, 1)};
  EXPECT_TRUE(troubled(h, 0, 9'000, 9'000));  // both sides
  h.faults = {from_to(Kind::kCrash, 1'000, 1'001, 1)};
  EXPECT_TRUE(troubled(h, 1, 500, 3'000, kSecond));  // never too short
  h.faults = {from_to(Kind::kClockJump, 1'000, kNever, 1)};
  EXPECT_TRUE(troubled(h, 1, 1'100, 3'000));
  EXPECT_FALSE(troubled(h, 1, 1'101, 3'000));  // it is over at once
  h.faults = {loss(1)};
  EXPECT_FALSE(troubled(h, 1, 0, 3'000));
}

TEST(Crashed, IsAGroupWithAMemberThatWasGoneThen) {
  Story s;
  s.history.groups.push_back({"others", {2, 3}, 1});
  s.crash(1);  // at 1 us
  EXPECT_TRUE(crashed(s.history, 0, 1'000, 1'000));
  EXPECT_FALSE(crashed(s.history, 0, 1'001, 2'000));
  EXPECT_FALSE(crashed(s.history, 0, 0, 999));
  EXPECT_FALSE(crashed(s.history, 1, 0, 2'000));
}

}  // namespace
}  // namespace fibocast
