// Counts how the calls of local applications end and how long they took. Nothing else happens when a call ends: names,
// predictions and texts are made when somebody asks. One thread; no heap after the constructor.
#pragma once

#include <array>
#include <string_view>

#include "runtime/daemon/metrics/bounded_table.h"
#include "runtime/daemon/metrics/latency_histogram.h"
#include "runtime/daemon/metrics/metrics_limits.h"
#include "runtime/node/node.h"

namespace fibocast {

// What a call has asked for, kept until it ends.
struct AskedCall {
  GroupId group = 0;
  Operation operation = Operation::kBarrier;
  AlgorithmChoice choice;  // kPlanned: what the group's plan says
  ElementType type = ElementType::kBytes;
  CombineOperator op = CombineOperator::kNone;
  std::uint64_t bytes = 0;    // that it brought
  Nanoseconds called_at = 0;  // or the time before which it was not to count
};

class OperationMetrics {
 public:
  static constexpr std::size_t kVerdicts = 10;

  // All calls of one operation by one algorithm: how long from the call to its end.
  struct SeriesKey {
    Operation operation = Operation::kBarrier;
    AlgorithmChoice choice;
    bool operator==(const SeriesKey&) const = default;
    std::size_t hash() const;
  };
  using Series = BoundedTable<SeriesKey, LatencyHistogram, metrics_limits::kSeries>;

  // A group that was called in, as it was when it was looked at last. It stays when the group is removed.
  struct GroupKey {
    GroupId id = 0;
    bool operator==(const GroupKey&) const = default;
    std::size_t hash() const;
  };
  struct GroupFacts {
    std::array<char, kMaxGroupName> name_bytes{};
    std::uint8_t name_length = 0;
    Rank self = kNoRank, ranks = 1;
    Plan plan;  // its given tree is not to be read: the group may be gone
    Nanoseconds looked_at = 0;
    bool is_known = false;
    std::string_view name() const { return {name_bytes.data(), name_length}; }
  };
  using Groups = BoundedTable<GroupKey, GroupFacts, metrics_limits::kGroups>;

  // The calls of one operation in one group with data of one size class that ended well.
  struct RowKey {
    GroupId group = 0;
    Operation operation = Operation::kBarrier;
    std::uint8_t size_class = 0;  // plan.h
    bool operator==(const RowKey&) const = default;
    std::size_t hash() const;
  };
  struct Row {
    AlgorithmChoice choice;  // of the last call
    ElementType type = ElementType::kBytes;
    CombineOperator op = CombineOperator::kNone;
    std::uint64_t bytes = 0;  // of the last call, as in OperationShape::total_bytes
    std::uint64_t calls = 0;
    // Without the wait for a straggler, as far as it is known: what a prediction can be compared with.
    LatencyHistogram network;
    std::array<float, metrics_limits::kRecent> recent{};  // the same of the last calls, a ring; microseconds
    std::uint32_t recent_used = 0, recent_next = 0;
    void add(Nanoseconds duration);
    float recent_median() const;  // 0 if there are none
  };
  using Rows = BoundedTable<RowKey, Row, metrics_limits::kGroupRows>;

  struct Peaks {
    std::uint32_t requests = 0, operations = 0, buffers = 0;
    std::uint64_t payload_bytes = 0;
  };

  // A call was taken by the node.
  void on_call(const Node& node);
  // ... and has ended, now.
  void on_done(const Node& node, const AskedCall& asked, const CallDone& done, Nanoseconds now);

  const Series& series() const { return series_; }
  const Groups& groups() const { return groups_; }
  const Rows& rows() const { return rows_; }
  // How many operations of this kind ended so.
  std::uint64_t ended(Operation operation, Verdict verdict) const;
  std::uint64_t untracked() const { return untracked_; }  // calls for which a table had no row
  const Peaks& peaks() const { return peaks_; }

 private:
  const GroupFacts* facts_of(const Node& node, GroupId group, Nanoseconds now);
  void count_well_ended(const Node& node, const AskedCall& asked, const CallDone& done, Nanoseconds now);

  Series series_;
  Groups groups_;
  Rows rows_;
  std::array<std::array<std::uint64_t, kVerdicts>, kOperations> ended_{};
  std::uint64_t untracked_ = 0;
  Peaks peaks_;
};

}  // namespace fibocast
