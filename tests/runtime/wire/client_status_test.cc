#include "runtime/wire/client_status.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

CallDone done_with(Verdict verdict, std::initializer_list<Rank> ranks) {
  CallDone done;
  done.verdict = verdict;
  done.generation = 4;
  for (const Rank rank : ranks) done.ranks.add(rank);
  return done;
}

client::Status described(const CallDone& done, std::string_view label = "") {
  client::Status status;
  describe_call({Operation::kBarrier, "gate", label, 10'000'000'000}, done, status);
  return status;
}

TEST(ClientStatus, DeadlineNamesWhoIsMissing) {
  const auto status = described(done_with(Verdict::kDeadlineExceeded, {2, 5, 6, 7}));
  EXPECT_EQ(status.code(), client::CODE_DEADLINE_EXCEEDED);
  EXPECT_EQ(status.sentence(),
            "barrier 'gate' (generation 4): deadline passed after 10 s; missing ranks: 2, 5-7; start them, or give it "
            "a longer deadline");
  EXPECT_EQ(std::vector<std::uint32_t>(status.ranks().begin(), status.ranks().end()),
            (std::vector<std::uint32_t>{2, 5, 6, 7}));
}

TEST(ClientStatus, TheLabelIsInTheSentence) {
  const auto status = described(done_with(Verdict::kPeerLost, {1}), "start");
  EXPECT_TRUE(status.sentence().starts_with("barrier 'gate' (generation 4, label 'start'): lost ranks: 1;"))
      << status.sentence();
}

TEST(ClientStatus, AnApplicationThatDiedIsNamedWithItsLabelIfThatIsKnown) {
  const CallDone done = done_with(Verdict::kCallerLost, {3});
  EXPECT_EQ(
      described(done, "mine").sentence(),
      "barrier 'gate' (generation 4, label 'mine'): an application on rank 3 died in it; start it again and repeat "
      "the operation");
  client::Status status;
  describe_call({Operation::kBarrier, "gate", "", 0, "nightly"}, done, status);
  EXPECT_NE(status.sentence().find("an application on rank 3 (label 'nightly') died"), std::string::npos);
  EXPECT_EQ(status.code(), client::CODE_PEER_LOST);
}

TEST(ClientStatus, OkSaysNothing) {
  const auto status = described(done_with(Verdict::kOk, {}));
  EXPECT_EQ(status.code(), client::CODE_OK);
  EXPECT_EQ(status.sentence(), "");
}

TEST(ClientStatus, EveryFailureHasACodeAndARemedy) {
  for (const auto verdict : {Verdict::kDeadlineExceeded, Verdict::kPeerLost, Verdict::kCancelled, Verdict::kMismatch,
                             Verdict::kStale, Verdict::kRefused, Verdict::kCallerLost}) {
    const auto status = described(done_with(verdict, {}));
    EXPECT_NE(status.code(), client::CODE_OK);
    EXPECT_NE(status.code(), client::CODE_FAILED);
    EXPECT_NE(status.sentence().find(';'), std::string::npos) << status.sentence();
  }
}

TEST(ClientStatus, EveryRefusalOfACommandHasACodeAndARemedy) {
  for (int a = static_cast<int>(Admission::kWouldBlock); a <= static_cast<int>(Admission::kNoPlan); ++a) {
    client::Status status;
    describe_admission("group 'gate'", static_cast<Admission>(a), status);
    EXPECT_EQ(status.code(),
              a == static_cast<int>(Admission::kWouldBlock) ? client::CODE_WOULD_BLOCK : client::CODE_INVALID);
    EXPECT_TRUE(status.sentence().starts_with("group 'gate': ")) << status.sentence();
    EXPECT_NE(status.sentence().find(';'), std::string::npos) << status.sentence();
  }
}

}  // namespace
}  // namespace fibocast
