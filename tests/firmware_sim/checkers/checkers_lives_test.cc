// What the checkers make of applications that die, give up, come later and do not number their calls.
#include "firmware_sim/checkers/checkers.h"
#include "tests/firmware_sim/checkers/story.h"

namespace fibocast {
namespace {

using test::kBytes;
using test::Story;

// The application of node 1 dies in generation 0, whose place is kept for 10 us.
struct Death : Story {
  Death() {
    history.client_grace = 10'000;
    arrive(0, 0);
    arrive(1, 0);
    add(Record::Kind::kDied, 1, 0, Operation::kBarrier).label = "nightly";
  }
  Record& lost(NodeId node, std::vector<Rank> ranks, const std::string& label = "nightly") {
    Record& r = done(node, 0, Verdict::kCallerLost, std::move(ranks));
    r.label = label;
    return r;
  }
};

TEST(CallerChecker, KnowsWhoDiedAndWhatItHadCalledItsCall) {
  Death right;
  right.lost(0, {1});
  EXPECT_EQ(check_callers(right.history), Findings{});
  Death nobody, wrong, unlabelled;
  nobody.lost(0, {});
  wrong.lost(0, {0});
  unlabelled.lost(0, {1}, "");
  EXPECT_EQ(check_callers(nobody.history).size(), 1u);
  EXPECT_EQ(check_callers(wrong.history).size(), 1u);
  EXPECT_EQ(check_callers(unlabelled.history).size(), 1u);
}

TEST(CallerChecker, SeesThatThePlaceWasTakenInTime) {
  for (const Nanoseconds away : {1'000, 20'000}) {
    Death story;
    story.now += away;
    story.arrive(1, 0);
    story.lost(0, {1});
    EXPECT_EQ(check_callers(story.history).size(), away < 10'000 ? 1u : 0u) << away;
  }
}

TEST(VerdictChecker, WantsACallerLostToAllOrNobody) {
  Death all, some;
  all.lost(0, {1});
  all.arrive(1, 0);
  all.lost(1, {1});
  EXPECT_EQ(check_verdicts(all.history), Findings{});
  some.lost(0, {1});
  some.arrive(1, 0);
  some.done(1, 0);
  EXPECT_EQ(check_verdicts(some.history).size(), 1u);
}

TEST(LossChecker, DoesNotTakeACallerForItsNode) {
  Death story;
  story.done(0, 0, Verdict::kPeerLost, {1});
  EXPECT_EQ(check_losses(story.history).size(), 1u);
}

TEST(SuccessChecker, ExcusesALostCallerAndNobodyWhoGaveUp) {
  Death story;
  story.lost(0, {1});
  EXPECT_EQ(check_success(story.history), Findings{});
  Story given_up;
  given_up.arrive(0, 0);
  given_up.arrive(1, 0);
  given_up.add(Record::Kind::kGaveUp, 1, 0, Operation::kBarrier);
  given_up.done(0, 0, Verdict::kDeadlineExceeded, {1});
  EXPECT_EQ(check_success(given_up.history).size(), 1u);
}

TEST(LivenessChecker, OwesNothingToWhoDiedOrGaveUp) {
  for (const Record::Kind kind : {Record::Kind::kDied, Record::Kind::kGaveUp}) {
    Story story;
    story.arrive(1, 0);
    story.add(kind, 1, 0, Operation::kBarrier);
    EXPECT_EQ(check_liveness(story.history), Findings{});
    story.done(1, 0);
    EXPECT_EQ(check_liveness(story.history).size(), 1u);
  }
}

TEST(OrderChecker, KnowsWhereWhoComesBackBegins) {
  for (const Generation begins : {2u, 3u, 4u}) {
    Story story;
    for (Generation g = 0; g < 4; ++g) story.arrive(0, g), story.done(0, g);
    story.arrive(1, 2);
    story.add(Record::Kind::kDied, 1, 2, Operation::kBarrier);
    story.history.client_grace = kNever / 2;
    story.arrive(1, begins);
    EXPECT_EQ(check_generation_order(story.history).size(), begins == 4 ? 1u : 0u) << begins;
  }
}

TEST(ReleaseChecker, CountsACallFromItsTimeOn) {
  for (const Nanoseconds not_before : {1'000, 9'000}) {
    Story story;
    story.arrive(0, 0);
    story.arrive(1, 0).not_before = not_before;
    story.done(0, 0);
    EXPECT_EQ(check_release(story.history).size(), not_before > 3'000 ? 1u : 0u) << not_before;
  }
}

TEST(ReleaseChecker, TakesACallWithoutANumberForAnyGeneration) {
  Story story;
  story.history.groups[0].numbered = false;
  story.arrive(0, 0);
  story.done(0, 0);
  EXPECT_EQ(check_release(story.history).size(), 1u);
  Story perhaps;
  perhaps.history.groups[0].numbered = false;
  perhaps.arrive(1, kUnknownGeneration);
  perhaps.arrive(0, 0);
  perhaps.done(0, 0);
  EXPECT_EQ(check_release(perhaps.history), Findings{});
}

// Where it was counted first it was released for others, and failed for its own node, which was cut off from them.
TEST(ReleaseChecker, TakesACallThatWentOnToALaterGenerationForBoth) {
  for (const bool cut : {true, false}) {
    for (const bool numbered : {false, true}) {
      Story story;
      story.history.groups[0].numbered = numbered;
      const Fault pause{.kind = Fault::Kind::kPause, .begins = 3'500, .heals = 3'600, .nodes = {1}};
      if (cut) story.history.faults.push_back(pause);
      story.arrive(1, 4);
      story.arrive(0, 0);
      story.done(0, 0);
      story.arrive(0, 4);
      for (const NodeId node : {0u, 1u}) story.done(node, 4);
      EXPECT_EQ(check_release(story.history).size(), cut && !numbered ? 0u : 1u) << cut << numbered;
    }
  }
}

TEST(LeakChecker, WantsNoRequestLeftUnlessSomebodyStayedAway) {
  Story story;
  story.history.ends[1].requests = 1;
  EXPECT_EQ(check_leaks(story.history).size(), 1u);
  story.history.somebody_stayed_away = true;
  EXPECT_EQ(check_leaks(story.history), Findings{});
}

}  // namespace
}  // namespace fibocast
