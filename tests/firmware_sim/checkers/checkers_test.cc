// The checkers themselves: a right history passes all of them, and each planted defect is noticed.
#include "firmware_sim/checkers/checkers.h"

#include "tests/firmware_sim/checkers/story.h"

namespace fibocast {
namespace {

using test::kBytes;
using test::Story;

TEST(Checkers, PassARightHistory) {
  Story s;
  s.good_barrier(0);
  s.multicast_sent(1);
  s.multicast_received(1, kBytes);
  s.message(Record::Kind::kSent, 1);
  s.message(Record::Kind::kSent, 2);
  s.message(Record::Kind::kReceived, 1);
  s.message(Record::Kind::kReceived, 2);
  s.arrive(0, 2).deadline = s.now + 500;
  s.done(0, 2, Verdict::kDeadlineExceeded, {1});
  s.arrive(1, 2);
  s.done(1, 2, Verdict::kDeadlineExceeded, {1});
  s.good_barrier(3);
  EXPECT_EQ(check_all(s.history), Findings{});
}

TEST(ReleaseChecker, NoticesAnEarlyRelease) {
  Story s;
  s.arrive(0, 0);
  s.done(0, 0);
  s.arrive(1, 0);
  s.done(1, 0);
  ASSERT_EQ(check_release(s.history).size(), 1u);
  EXPECT_NE(check_release(s.history)[0].find("released when 1 of 2"), std::string::npos);
}

TEST(ReleaseChecker, CountsParticipantsNotNodes) {
  Story s;
  s.history.groups[0].participants = 2;
  s.good_barrier(0);  // the second participant of either node is missing
  EXPECT_EQ(check_release(s.history).size(), 2u);
}

TEST(MulticastChecker, NoticesTornAndRepeatedAndInventedPayloads) {
  Story torn;
  torn.multicast_sent(0);
  torn.multicast_received(0, {kBytes.size, kBytes.hash + 1});
  EXPECT_EQ(check_multicast(torn.history).size(), 1u);

  Story cut;
  cut.multicast_sent(0);
  cut.multicast_received(0, {kBytes.size - 1, kBytes.hash});
  EXPECT_EQ(check_multicast(cut.history).size(), 1u);

  Story twice;
  twice.multicast_sent(0);
  twice.multicast_received(0, kBytes);
  twice.multicast_received(0, kBytes);
  EXPECT_EQ(check_multicast(twice.history).size(), 1u);

  Story invented;
  invented.multicast_received(0, kBytes);
  EXPECT_EQ(check_multicast(invented.history).size(), 1u);
}

TEST(MessageChecker, NoticesLostDoubledSwappedAndChangedMessages) {
  Story lost;
  lost.message(Record::Kind::kSent, 1);
  EXPECT_EQ(check_messages(lost.history).size(), 1u);

  Story doubled;
  doubled.message(Record::Kind::kSent, 1);
  doubled.message(Record::Kind::kReceived, 1);
  doubled.message(Record::Kind::kReceived, 1);
  EXPECT_EQ(check_messages(doubled.history).size(), 1u);

  Story swapped;
  swapped.message(Record::Kind::kSent, 1);
  swapped.message(Record::Kind::kSent, 2);
  swapped.message(Record::Kind::kReceived, 2);
  swapped.message(Record::Kind::kReceived, 1);
  EXPECT_EQ(check_messages(swapped.history).size(), 2u);

  Story changed;
  changed.message(Record::Kind::kSent, 1);
  changed.message(Record::Kind::kReceived, 3);
  EXPECT_EQ(check_messages(changed.history).size(), 1u);
}

TEST(GenerationOrderChecker, NoticesAStepBack) {
  Story s;
  s.good_barrier(1);
  s.good_barrier(0);
  EXPECT_EQ(check_generation_order(s.history).size(), 2u);
}

TEST(LivenessChecker, NoticesMissingRepeatedAndLateAnswers) {
  Story hang;
  hang.arrive(0, 0);
  EXPECT_EQ(check_liveness(hang.history).size(), 1u);

  Story twice;
  twice.good_barrier(0);
  twice.done(1, 0);
  EXPECT_EQ(check_liveness(twice.history).size(), 1u);

  Story wrong_generation;
  wrong_generation.arrive(0, 4);
  wrong_generation.done(0, 5);
  EXPECT_EQ(check_liveness(wrong_generation.history).size(), 2u);

  Story late;
  late.arrive(0, 0).deadline = late.now + 500;
  late.now += 600;
  late.done(0, 0, Verdict::kDeadlineExceeded, {1});
  EXPECT_EQ(check_liveness(late.history).size(), 1u);
}

// A verdict of any operation, which other checkers look up in the list of members.
TEST(NamesChecker, NoticesRanksThatTheGroupDoesNotHave) {
  Story s;
  s.arrive(0, 0);
  s.done(0, 0, Verdict::kDeadlineExceeded, {1, 2});
  ASSERT_EQ(check_names(s.history).size(), 1u);
  EXPECT_NE(check_names(s.history)[0].find("names rank 2 of a group of 2"), std::string::npos);
  EXPECT_EQ(check_all(s.history), check_names(s.history)) << "the others have nothing to look at";

  Story lost;
  lost.arrive(0, 0);
  lost.done(0, 0, Verdict::kPeerLost, {77'000});
  EXPECT_EQ(check_all(lost.history).size(), 1u);

  Story twice;
  twice.arrive(0, 0);
  twice.done(0, 0, Verdict::kDeadlineExceeded, {1, 1});
  EXPECT_EQ(check_names(twice.history).size(), 1u);

  Story last;
  last.good_barrier(0);
  last.history.records.back().straggler = 2;
  EXPECT_EQ(check_names(last.history).size(), 1u);

  Story own;  // who called himself is there
  own.arrive(0, 0);
  own.done(0, 0, Verdict::kOk, {1});
  EXPECT_EQ(check_names(own.history).size(), 1u);
}

TEST(VerdictChecker, NoticesMixedVerdictsAndNames) {
  Story mixed;
  mixed.arrive(0, 0);
  mixed.arrive(1, 0);
  mixed.done(0, 0);
  mixed.done(1, 0, Verdict::kDeadlineExceeded, {0});
  EXPECT_EQ(check_verdicts(mixed.history).size(), 1u);

  Story other_names;
  other_names.arrive(0, 0);
  other_names.done(0, 0, Verdict::kDeadlineExceeded, {1});
  other_names.arrive(1, 0);
  other_names.done(1, 0, Verdict::kDeadlineExceeded, {0});
  EXPECT_EQ(check_verdicts(other_names.history).size(), 1u);

  Story not_named;
  not_named.arrive(0, 0);
  not_named.done(0, 0, Verdict::kDeadlineExceeded, {0});
  EXPECT_EQ(check_verdicts(not_named.history).size(), 1u);

  Story slandered;  // both were here in time, yet one is named
  slandered.history.calm = true;
  slandered.arrive(0, 0);
  slandered.arrive(1, 0);
  slandered.done(0, 0, Verdict::kDeadlineExceeded, {1});
  EXPECT_EQ(check_verdicts(slandered.history).size(), 1u);

  Story nobody;
  nobody.arrive(0, 0);
  nobody.arrive(1, 0);
  nobody.done(0, 0, Verdict::kDeadlineExceeded);
  EXPECT_EQ(check_verdicts(nobody.history).size(), 1u);

  Story held;  // the window may not have let it in
  held.arrive(0, held.history.window);
  held.done(0, held.history.window, Verdict::kDeadlineExceeded);
  EXPECT_EQ(check_verdicts(held.history), Findings{});
}

TEST(SuccessChecker, NoticesAFailureWithoutReason) {
  Story s;
  s.arrive(0, 0);
  s.arrive(1, 0);
  s.done(0, 0, Verdict::kDeadlineExceeded, {1});
  EXPECT_EQ(check_success(s.history).size(), 1u);
}

TEST(ResultChecker, NoticesWhatIsNotTheReference) {
  const auto findings = [](Fingerprint got, Verdict verdict) {
    Story s;
    for (const NodeId node : {0, 1}) s.reduced(Record::Kind::kArrived, node, kBytes);
    s.reduced(Record::Kind::kDone, 0, kBytes);
    s.reduced(Record::Kind::kDone, 1, got).verdict = verdict;
    return check_results(s.history).size();
  };
  EXPECT_EQ(findings(kBytes, Verdict::kOk), 0u);
  EXPECT_EQ(findings({kBytes.size, kBytes.hash + 1}, Verdict::kOk), 1u);
  EXPECT_EQ(findings({kBytes.size + 8, kBytes.hash}, Verdict::kOk), 1u);
  EXPECT_EQ(findings({}, Verdict::kOk), 1u);
  EXPECT_EQ(findings({}, Verdict::kPeerLost), 0u);  // who failed has nothing
}

TEST(ResultChecker, ComparesEachParticipantWithItsOwn) {
  Story s;
  s.reduced(Record::Kind::kArrived, 0, {8, 1});
  s.reduced(Record::Kind::kArrived, 1, {8, 2});
  s.reduced(Record::Kind::kDone, 0, {8, 2});
  s.reduced(Record::Kind::kDone, 1, {8, 1});
  EXPECT_EQ(check_results(s.history).size(), 2u);
}

TEST(BoundsChecker, NoticesMoreThanTheLimits) {
  Story s;
  s.history.payload_bytes_limit = 1'000, s.history.buffers_limit = 10;
  s.history.ends[1].most_payload_bytes = 1'000, s.history.ends[1].most_buffers = 10;
  EXPECT_EQ(check_bounds(s.history), Findings{});
  s.history.ends[1].most_payload_bytes = 1'001;
  EXPECT_EQ(check_bounds(s.history), Findings{"node 1 held 1001 payload bytes: its limit is 1000"});
  s.history.ends[1].most_payload_bytes = 0, s.history.ends[0].most_buffers = 11;
  EXPECT_EQ(check_bounds(s.history), Findings{"node 0 held 11 buffers: its limit is 10"});
  s.history.ends[0].most_buffers = 0, s.history.large_bytes_limit = s.history.ends[0].most_large_bytes = 65'536;
  EXPECT_EQ(check_bounds(s.history).size(), 0u);
  s.history.ends[0].most_large_bytes = 65'537;
  EXPECT_EQ(check_bounds(s.history).size(), 1u);
}

TEST(FormerLifeChecker, WantsNobodyReleasedByWhatWasBeforeItsNodeCrashed) {
  for (const bool before : {false, true}) {  // the release came long before the node was started again, or after it
    Story s;
    s.arrive(0, 4), s.arrive(1, 4);
    if (before) s.done(0, 4);
    s.crash(1);
    s.now += kSecond;
    s.history.restarts.push_back({s.now, 1});
    if (!before) s.done(0, 4);
    s.arrive(1, 4), s.done(1, 4, Verdict::kStale);
    EXPECT_EQ(check_former_lives(s.history), Findings{});
    s.arrive(1, 4), s.done(1, 4);
    EXPECT_EQ(check_former_lives(s.history).size(), before ? 1u : 0u);
    s.good_barrier(5);
    EXPECT_EQ(check_former_lives(s.history).size(), before ? 1u : 0u);
  }
}

TEST(FormerLifeChecker, KnowsThatNumbersBeginAnewWhenAllWereStartedAgain) {
  Story s;
  s.good_barrier(0);
  for (const NodeId node : {0u, 1u}) s.crash(node);
  s.now += kSecond;
  for (const NodeId node : {0u, 1u}) s.history.restarts.push_back({s.now, node});
  s.good_barrier(0);
  EXPECT_EQ(check_former_lives(s.history), Findings{});
}

TEST(FormerLifeChecker, KnowsThatACallWithoutANumberMayHaveBeenOfThisGeneration) {
  for (const bool came : {false, true}) {
    Story s;
    s.good_barrier(0);
    for (const NodeId node : {0u, 1u}) s.crash(node);
    s.now += kSecond;
    for (const NodeId node : {0u, 1u}) s.history.restarts.push_back({s.now, node});
    if (came) s.arrive(0, kUnknownGeneration);
    s.arrive(1, 0), s.done(1, 0);
    EXPECT_EQ(check_former_lives(s.history).size(), came ? 0u : 1u);
  }
}

TEST(LeakChecker, NoticesWhatANodeKeeps) {
  Story bytes, buffers, answers, wakes, stuck;
  bytes.history.ends[1].payload_bytes = 1;
  buffers.history.ends[1].buffers = 1;
  answers.history.ends[1].repeated_answers = 1;
  wakes.history.ends[1].idle_wakes = 1'000;
  stuck.history.ends[1].stuck = true;
  for (const Story* s : {&bytes, &buffers, &answers, &wakes, &stuck}) EXPECT_EQ(check_leaks(s->history).size(), 1u);
}

TEST(LeakChecker, KnowsThatWhoBeganLateCollectsNothingOfBefore) {
  Story late;
  late.arrive(0, 0), late.arrive(1, 2);
  for (const NodeId node : {0u, 1u}) late.history.ends[node].payload_bytes = late.history.ends[node].buffers = 1;
  EXPECT_EQ(check_leaks(late.history).size(), 2u) << "of node 0";
  late.history.ends[0].payload_bytes = late.history.ends[0].buffers = 0;
  EXPECT_TRUE(check_leaks(late.history).empty());
}

TEST(LeakChecker, KnowsThatWhoCameWhenAllWasOverCollectsNothing) {
  Story late;
  late.history.ends[1].payload_bytes = late.history.ends[1].buffers = 1;
  EXPECT_EQ(check_leaks(late.history).size(), 2u) << "nobody has called anything";
  late.arrive(0, 0);
  EXPECT_TRUE(check_leaks(late.history).empty());
  late.history.ends[0].payload_bytes = 1;
  EXPECT_EQ(check_leaks(late.history).size(), 1u) << "of node 0";
}

TEST(Fingerprint, TellsBytesApart) {
  std::vector<std::byte> a(1'000), b(1'000);
  b[999] = std::byte{1};
  EXPECT_EQ(fingerprint(a), fingerprint(a));
  EXPECT_NE(fingerprint(a), fingerprint(b));
  EXPECT_NE(fingerprint(a), fingerprint(std::span(a).first(999)));
}

}  // namespace
}  // namespace fibocast
