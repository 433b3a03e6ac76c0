#include "runtime/daemon/metrics/operation_metrics.h"

#include <gtest/gtest.h>

#include <vector>

namespace fibocast {
namespace {

// A node of a cluster of three, which nobody reaches: what is recorded does not ask how calls ended.
class OperationMetricsTest : public testing::Test {
 protected:
  OperationMetricsTest() : memory_(Node::bytes_needed(limits_)), node_(limits_, settings(), memory_) {
    node_.start(0);
    Generation generation = 0;
    node_.open_group("gate", 0, gate_, generation);
  }
  static NodeSettings settings() {
    NodeSettings settings;
    settings.nodes = 3;
    return settings;
  }
  AskedCall barrier(Nanoseconds called_at) const {
    AskedCall asked;
    asked.group = gate_;
    asked.called_at = called_at;
    return asked;
  }
  static CallDone ok(Nanoseconds arrived_at) {
    CallDone done;
    done.verdict = Verdict::kOk;
    done.arrived_at = arrived_at;
    return done;
  }

  Limits limits_ = Limits::simulated();
  std::vector<std::byte> memory_;
  Node node_;
  GroupId gate_ = 0;
  OperationMetrics metrics_;
};

TEST(LatencyHistogram, EachDurationIsInTheBucketWithTheLeastBoundThatHoldsIt) {
  for (Nanoseconds ns :
       {0L, 1L, 999L, 1000L, 1001L, 1500L, 1501L, 2000L, 2001L, 3000L, 123'456'789L, 67'000'000'000L}) {
    const std::size_t bucket = LatencyHistogram::bucket_of(ns);
    EXPECT_LE(ns, LatencyHistogram::upper_bound(bucket)) << ns;
    if (bucket > 0) {
      EXPECT_GT(ns, LatencyHistogram::upper_bound(bucket - 1)) << ns;
    }
  }
  EXPECT_EQ(LatencyHistogram::bucket_of(kNever), LatencyHistogram::kBuckets - 1);
}

TEST(LatencyHistogram, BoundsGrow) {
  for (std::size_t i = 1; i + 1 < LatencyHistogram::kBuckets; ++i)
    EXPECT_GT(LatencyHistogram::upper_bound(i), LatencyHistogram::upper_bound(i - 1));
}

TEST(LatencyHistogram, QuantilesAreInTheirBucket) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0);
  for (int i = 0; i < 99; ++i) histogram.add(10'000);
  histogram.add(kSecond);
  EXPECT_GT(histogram.quantile(0.5), 8'000);
  EXPECT_LE(histogram.quantile(0.5), 12'000);
  EXPECT_GT(histogram.quantile(1), kSecond / 2);
  EXPECT_EQ(histogram.count(), 100u);
  EXPECT_EQ(histogram.sum(), 99 * 10'000 + kSecond);
}

TEST_F(OperationMetricsTest, ACallIsCountedByOutcomeAlgorithmAndGroup) {
  metrics_.on_done(node_, barrier(1'000), ok(1'000), 51'000);
  EXPECT_EQ(metrics_.ended(Operation::kBarrier, Verdict::kOk), 1u);
  ASSERT_EQ(metrics_.series().entries().size(), 1u);
  EXPECT_EQ(metrics_.series().entries()[0].key.choice, planned_choice(Plan{}, Operation::kBarrier, 0));
  EXPECT_EQ(metrics_.series().entries()[0].row.sum(), 50'000);
  ASSERT_EQ(metrics_.groups().entries().size(), 1u);
  EXPECT_EQ(metrics_.groups().entries()[0].row.name(), "gate");
  ASSERT_EQ(metrics_.rows().entries().size(), 1u);
  EXPECT_FLOAT_EQ(metrics_.rows().entries()[0].row.recent_median(), 50);
}

TEST_F(OperationMetricsTest, WhatEndedOtherwiseHasNoDuration) {
  CallDone done;
  done.verdict = Verdict::kDeadlineExceeded;
  metrics_.on_done(node_, barrier(0), done, kSecond);
  EXPECT_EQ(metrics_.ended(Operation::kBarrier, Verdict::kDeadlineExceeded), 1u);
  EXPECT_TRUE(metrics_.series().entries().empty());
}

TEST_F(OperationMetricsTest, TheWaitForAnotherRankDoesNotCountAsTheNetworks) {
  CallDone done = ok(0);
  done.straggler = {.rank = 2, .late_by = 400'000};
  metrics_.on_done(node_, barrier(0), done, 450'000);
  EXPECT_FLOAT_EQ(metrics_.rows().entries()[0].row.recent_median(), 50);
  EXPECT_EQ(metrics_.series().entries()[0].row.sum(), 450'000);
}

TEST_F(OperationMetricsTest, WhereNothingIsLeftTheNetworksTimeIsNotKnown) {
  CallDone done = ok(0);
  done.straggler = {.rank = 2, .late_by = 460'000};
  metrics_.on_done(node_, barrier(0), done, 450'000);
  EXPECT_EQ(metrics_.rows().entries()[0].row.calls, 1u);
  EXPECT_EQ(metrics_.rows().entries()[0].row.recent_used, 0u);
}

TEST_F(OperationMetricsTest, WhoIsLastItselfDoesNotWait) {
  CallDone done = ok(0);
  done.straggler = {.rank = 0, .late_by = 400'000};
  metrics_.on_done(node_, barrier(0), done, 50'000);
  EXPECT_FLOAT_EQ(metrics_.rows().entries()[0].row.recent_median(), 50);
}

TEST_F(OperationMetricsTest, SizesHaveTheirOwnRows) {
  AskedCall asked = barrier(0);
  asked.operation = Operation::kAllreduce;
  for (const std::uint64_t bytes : {8u, 16'384u, 1u << 20, 16u}) {
    asked.bytes = bytes;
    metrics_.on_done(node_, asked, ok(0), 1'000);
  }
  EXPECT_EQ(metrics_.rows().entries().size(), 3u);
  EXPECT_EQ(metrics_.rows().entries()[0].row.network.count(), 2u);
}

TEST_F(OperationMetricsTest, WhatFindsNoRowIsCounted) {
  for (std::uint32_t i = 1; i <= metrics_limits::kSeries + 5; ++i) {
    AskedCall asked = barrier(0);
    asked.choice = {Algorithm::kDissemination, {}, static_cast<std::uint16_t>(i)};
    metrics_.on_done(node_, asked, ok(0), 1'000);
  }
  EXPECT_EQ(metrics_.series().entries().size(), metrics_limits::kSeries);
  EXPECT_EQ(metrics_.untracked(), 5u);
}

TEST_F(OperationMetricsTest, ACallInAGroupThatIsGoneIsUntracked) {
  AskedCall asked = barrier(0);
  asked.group = gate_ + 1;
  metrics_.on_done(node_, asked, ok(0), 1'000);
  EXPECT_EQ(metrics_.untracked(), 1u);
}

TEST_F(OperationMetricsTest, TheLastOnesAreKept) {
  for (int i = 1; i <= 100; ++i) metrics_.on_done(node_, barrier(0), ok(0), i * 1'000);
  const auto& row = metrics_.rows().entries()[0].row;
  EXPECT_EQ(row.recent_used, metrics_limits::kRecent);
  EXPECT_FLOAT_EQ(row.recent_median(), 85);  // of 69 to 100
}

}  // namespace
}  // namespace fibocast
