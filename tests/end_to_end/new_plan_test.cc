// Groups of sixteen real daemons get new plans while their applications call one operation after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/end_to_end/members.h"

namespace fibocast {
namespace {

constexpr Generation kChanges = 200;

class NewPlan : public testing::TestWithParam<std::tuple<const char*, const char*>>, protected Members {
 protected:
  void SetUp() override {
    up(std::get<0>(GetParam()));
    create_work(std::get<1>(GetParam()), clients_, groups_);
    for (NodeId rank = 0; rank < kNodes; ++rank) planners_[rank] = cluster_.client(rank, "planner");
  }
  // Trees of another shape each time; every seventh is the daemon's own plan.
  Status change(Generation number) {
    GroupRequest request;
    request.name = "work";
    if (number % 7 != 6) {
      request.distribution = TreeSpec{.kind = TreeKind::kFibo, .s = 1 + number % 5, .r = 1 + number % 11};
      request.reduction = TreeSpec{.kind = TreeKind::kFibo, .s = 1 + number % 11, .r = 1 + number % 5};
    }
    return planners_[number % kNodes]->plan_group(request);
  }

  std::shared_ptr<Client> planners_[kNodes];
};

// Barriers, multicasts and maxima in turn.
Status operate(Group& group, Generation at) {
  const auto root = static_cast<Rank>(at % kNodes);
  const std::vector<std::byte> text(3000, static_cast<std::byte>(at));
  if (at % 3 == 0) return group.barrier(kPatience).status;
  if (at % 3 == 1) {
    const bool sends = group.rank() == root;
    const Outcome outcome = group.multicast(root, sends ? std::span(text) : std::span<const std::byte>{}, kPatience);
    EXPECT_TRUE(sends || !outcome.status.ok() || outcome.payload == text);
    return outcome.status;
  }
  const std::int64_t mine = std::int64_t{at} + group.rank(), largest = std::int64_t{at} + kNodes - 1;
  const Outcome outcome = group.allreduce(std::span(&mine, 1), CombineOperator::kMax, kPatience);
  EXPECT_TRUE(!outcome.status.ok() || std::ranges::equal(outcome.payload, std::as_bytes(std::span(&largest, 1))));
  return outcome.status;
}

TEST_P(NewPlan, TwoHundredTimesWhileOperationsGoOn) {
  std::atomic<Generation> reached = 0, end = ~Generation{0};
  std::thread applications([&] {
    const auto ends = together(kNodes, [&](Group& group) {
      Status status;
      for (Generation at = 0; status.ok() && at <= end; ++at) {
        status = operate(group, at);
        if (group.rank() == 0) reached = at;
      }
      return status;
    });
    for (const Status& status : ends) EXPECT_TRUE(status.ok()) << status.sentence;
  });
  Status status;
  Generation changes = 0;
  for (; status.ok() && changes < kChanges; ++changes) status = change(changes);
  EXPECT_TRUE(status.ok()) << "change " << changes << ": " << status.sentence;
  const Generation during = reached;
  end = during + 50;  // nobody is so far ahead
  applications.join();
  EXPECT_GE(during, kChanges);  // each was followed by operations
  EXPECT_EQ(sum_of("node_mismatch"), 0u);
  EXPECT_EQ(sum_of("node_malformed"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Groups, NewPlan,
                         testing::Combine(testing::Values("udp", "tcp"), testing::Values("all", "survivors")),
                         [](const auto& groups) {
                           return std::string(std::get<0>(groups.param)) + "_" + std::get<1>(groups.param);
                         });

}  // namespace
}  // namespace fibocast
