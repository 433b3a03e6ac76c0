// The engine alone: stages, early and repeated messages, repetition.
#include "collectives/engine.h"

#include <gtest/gtest.h>

#include <vector>

namespace fibocast {
namespace {

constexpr std::uint32_t kRun = 1;  // of two: none may touch the other

class EngineTest : public testing::Test {
 protected:
  EngineTest()
      : runs_(2),
        stages_(2 * limits_.stages),
        progress_(2 * limits_.stages),
        transfers_(2 * limits_.transfers),
        counts_(2 * limits_.transfers, 0xa5a5a5a5),
        engine_(limits_, {runs_, stages_, progress_, transfers_, counts_}) {}

  void open(Operation operation, Rank ranks, Rank me, std::uint64_t bytes = 0, std::uint32_t segment = 0) {
    ASSERT_TRUE(engine_.open(kRun, plan_, {operation, ranks, bytes, segment}, me));
  }
  std::vector<Rank> sends() {
    std::vector<Rank> peers;
    for (Engine::Send send; engine_.next_send(kRun, send); engine_.commit_send(kRun, send))
      peers.push_back(Rank{send.transfer.peer});
    return peers;
  }
  Engine::Receipt receive(Rank source, std::uint8_t stage, std::uint32_t repetition = 0) {
    return engine_.receive(kRun, engine_.find_receive(kRun, source, stage), repetition);
  }

  Limits limits_;
  Plan plan_{TreeSpec{TreeKind::kSequential}, TreeSpec{TreeKind::kSequential}, 0};
  std::vector<Engine::Run> runs_;
  std::vector<Stage> stages_;
  std::vector<Engine::StageProgress> progress_;
  std::vector<Transfer> transfers_;
  std::vector<std::uint32_t> counts_;
  Engine engine_;
};

TEST_F(EngineTest, TheRootReleasesOnlyWhenAllHaveArrivedItselfIncluded) {
  open(Operation::kBarrier, 3, 0);
  EXPECT_EQ(receive(1, 0), Engine::Receipt::kAccepted);
  EXPECT_EQ(receive(2, 0), Engine::Receipt::kAccepted);
  EXPECT_TRUE(sends().empty()) << "the local participants have not called";
  EXPECT_FALSE(engine_.finished(kRun));
  engine_.arrive(kRun);
  EXPECT_EQ(sends(), (std::vector<Rank>{1, 2}));
  EXPECT_TRUE(engine_.finished(kRun));
}

TEST_F(EngineTest, OneMissingChildHoldsTheBarrier) {
  open(Operation::kBarrier, 3, 0);
  engine_.arrive(kRun);
  EXPECT_EQ(receive(2, 0), Engine::Receipt::kAccepted);
  EXPECT_TRUE(sends().empty());
  EXPECT_FALSE(engine_.finished(kRun));
}

TEST_F(EngineTest, ALeafSendsUpAndIsReleased) {
  open(Operation::kBarrier, 3, 2);
  engine_.arrive(kRun);
  EXPECT_EQ(sends(), (std::vector<Rank>{0}));
  EXPECT_FALSE(engine_.activated(kRun));
  EXPECT_EQ(receive(0, 1), Engine::Receipt::kAccepted);
  EXPECT_TRUE(engine_.activated(kRun) && engine_.finished(kRun));
}

TEST_F(EngineTest, RepeatedAndForeignMessagesChangeNothing) {
  open(Operation::kBarrier, 4, 0);
  engine_.arrive(kRun);
  EXPECT_EQ(receive(1, 0), Engine::Receipt::kAccepted);
  EXPECT_EQ(receive(1, 0), Engine::Receipt::kDuplicate);
  EXPECT_EQ(engine_.find_receive(kRun, 1, 1), Engine::kNone) << "the root is released by nobody";
  EXPECT_EQ(engine_.find_receive(kRun, 9, 0), Engine::kNone);
  EXPECT_EQ(engine_.find_receive(kRun, 1, 200), Engine::kNone);
  EXPECT_EQ(engine_.receive(kRun, 5000, 0), Engine::Receipt::kUnexpected);
  EXPECT_TRUE(sends().empty());
}

TEST_F(EngineTest, SegmentsAreForwardedOneByOneWithoutTheApplication) {
  plan_.distribution = TreeSpec{TreeKind::kKary, 1};  // a chain: 0 -> 1 -> 2
  open(Operation::kMulticast, 3, 1, 2500, 1000);
  EXPECT_TRUE(sends().empty());
  for (std::uint32_t segment = 0; segment < 3; ++segment) {
    EXPECT_EQ(receive(0, 0, segment + 1), Engine::Receipt::kUnexpected) << "a segment was skipped";
    EXPECT_EQ(receive(0, 0, segment), Engine::Receipt::kAccepted);
    Engine::Send send;
    ASSERT_TRUE(engine_.next_send(kRun, send));
    EXPECT_EQ(send.repetition, segment);
    EXPECT_EQ(sends(), (std::vector<Rank>{2}));
  }
  EXPECT_TRUE(engine_.finished(kRun));
}

TEST_F(EngineTest, SegmentsThatComeBeforeTheFirstWasSentWait) {
  plan_.distribution = TreeSpec{TreeKind::kKary, 1};
  open(Operation::kMulticast, 3, 1, 2000, 1000);
  receive(0, 0, 0);
  receive(0, 0, 1);
  EXPECT_TRUE(engine_.activated(kRun));
  EXPECT_FALSE(engine_.finished(kRun));
  EXPECT_EQ(sends(), (std::vector<Rank>{2, 2}));
  EXPECT_TRUE(engine_.finished(kRun));
}

TEST_F(EngineTest, ARunStartsAnewWithTheSameOrAnotherSchedule) {
  for (const Rank ranks : {3u, 3u, 5u}) {
    open(Operation::kBarrier, ranks, 0);
    EXPECT_FALSE(engine_.arrived(kRun));
    engine_.arrive(kRun);
    for (Rank r = 1; r < ranks; ++r) EXPECT_EQ(receive(r, 0), Engine::Receipt::kAccepted);
    EXPECT_EQ(sends().size(), ranks - 1);
    EXPECT_TRUE(engine_.finished(kRun));
  }
}

// Two stages that no plan names: it sends to rank 7, then waits for rank 5.
TEST_F(EngineTest, AScheduleThatIsAlreadyInMemoryIsExecuted) {
  const std::size_t stage = kRun * limits_.stages, transfer = kRun * limits_.transfers;
  stages_[stage] = {.sends = 1, .waits_for_arrival = true};
  stages_[stage + 1] = {.first_transfer = 1, .receives = 1, .after = 0};
  transfers_[transfer] = {.peer = 7};
  transfers_[transfer + 1] = {.peer = 5, .stage = 1};
  for (int time = 0; time < 2; ++time) {
    engine_.open_written(kRun, {Operation::kBarrier, 8}, 2);
    EXPECT_TRUE(sends().empty());
    engine_.arrive(kRun);
    EXPECT_EQ(sends(), (std::vector<Rank>{7}));
    EXPECT_EQ(receive(5, 1), Engine::Receipt::kAccepted);
    EXPECT_TRUE(engine_.finished(kRun));
  }
  open(Operation::kBarrier, 3, 2);  // a plan's schedule takes its place
  engine_.arrive(kRun);
  EXPECT_EQ(sends(), (std::vector<Rank>{0}));
}

TEST_F(EngineTest, OneRankAlonePassesByArriving) {
  open(Operation::kBarrier, 1, 0);
  EXPECT_FALSE(engine_.finished(kRun));
  engine_.arrive(kRun);
  EXPECT_TRUE(engine_.finished(kRun));
}

TEST_F(EngineTest, ARunThatIsForgottenFollowsAnotherPlan) {
  open(Operation::kMulticast, 4, 0);
  engine_.arrive(kRun);
  EXPECT_EQ(sends(), (std::vector<Rank>{1, 2, 3}));
  plan_.distribution.kind = TreeKind::kBinomial;
  engine_.forget(kRun);
  open(Operation::kMulticast, 4, 0);
  engine_.arrive(kRun);
  EXPECT_EQ(sends(), (std::vector<Rank>{2, 1}));
}

TEST_F(EngineTest, AScheduleThatDoesNotFitIsRefused) {
  EXPECT_FALSE(engine_.open(kRun, plan_, {Operation::kBarrier, limits_.transfers + 2, 0, 0}, 0));
}

}  // namespace
}  // namespace fibocast
