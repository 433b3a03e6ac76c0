#include "runtime/daemon/metrics/operation_metrics.h"

#include <algorithm>

#include "runtime/daemon/group_messages.h"

namespace fibocast {
namespace {

std::uint64_t mixed(std::uint64_t n) {  // the end of SplitMix64
  n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
  n = (n ^ n >> 27) * 0x94d049bb133111ebull;
  return n ^ n >> 31;
}

// As in OperationShape::total_bytes. Who gets a payload knows it only now.
std::uint64_t total_bytes(const AskedCall& asked, std::uint64_t received, Rank ranks) {
  switch (asked.operation) {
    case Operation::kBarrier: return 0;
    case Operation::kMulticast:
    case Operation::kDivide: return std::max(asked.bytes, received);
    case Operation::kScatter: return received;
    case Operation::kAlltoall: return asked.bytes / std::max<Rank>(ranks, 1);
    default: return asked.bytes;
  }
}

// So long it would have taken had nobody been late, as far as this node knows: a straggler is known of barriers. How
// late it was is measured elsewhere, so that nothing may be left: then it is not known.
Nanoseconds network_time(const AskedCall& asked, const CallDone& done, Rank self, Nanoseconds now) {
  const Nanoseconds began = std::max(asked.called_at, done.arrived_at);
  const bool waited = done.straggler.rank != kNoRank && done.straggler.rank != self;
  return now - began - (waited ? done.straggler.late_by : 0);
}

// Groups get new plans while they go on, and nobody tells the host: it looks again after this time. Calls that end
// sooner after such a change are counted with the algorithm before.
constexpr Nanoseconds kLookAgain = kSecond;

void take_facts(const Node::GroupInfo& group, OperationMetrics::GroupFacts& out) {
  out.name_length = static_cast<std::uint8_t>(std::min(group.name.size(), out.name_bytes.size()));
  std::copy_n(group.name.begin(), out.name_length, out.name_bytes.begin());
  out.self = group.rank;
  out.ranks = group.live > 0 ? group.live : group.members.size();
  out.plan = group.plan;
  out.is_known = true;
}

}  // namespace

std::size_t OperationMetrics::SeriesKey::hash() const {
  return mixed(static_cast<std::uint64_t>(operation) << 32 | static_cast<std::uint64_t>(choice.algorithm) << 24 |
               static_cast<std::uint64_t>(choice.tree) << 16 | choice.parameter);
}

std::size_t OperationMetrics::GroupKey::hash() const { return mixed(id); }

std::size_t OperationMetrics::RowKey::hash() const {
  return mixed(group ^ static_cast<std::uint64_t>(operation) << 8 ^ size_class);
}

void OperationMetrics::Row::add(Nanoseconds duration) {
  network.add(duration);
  recent[recent_next] = static_cast<float>(duration) / kMicrosecond;
  recent_next = (recent_next + 1) % recent.size();
  recent_used = std::min<std::uint32_t>(recent_used + 1, recent.size());
}

float OperationMetrics::Row::recent_median() const {
  if (recent_used == 0) return 0;
  auto sorted = recent;
  const auto middle = sorted.begin() + recent_used / 2;
  std::nth_element(sorted.begin(), middle, sorted.begin() + recent_used);
  return *middle;
}

void OperationMetrics::on_call(const Node& node) {
  const NodeTables tables = node.tables();
  peaks_.requests = std::max(peaks_.requests, tables.requests);
  peaks_.operations = std::max(peaks_.operations, tables.operations);
  peaks_.buffers = std::max(peaks_.buffers, tables.buffers);
  peaks_.payload_bytes = std::max(peaks_.payload_bytes, node.payload_bytes_used());
}

std::uint64_t OperationMetrics::ended(Operation operation, Verdict verdict) const {
  return ended_[static_cast<std::size_t>(operation) - 1][static_cast<std::size_t>(verdict)];
}

const OperationMetrics::GroupFacts* OperationMetrics::facts_of(const Node& node, GroupId group, Nanoseconds now) {
  GroupFacts* facts = groups_.find_or_add({group});
  if (!facts || (facts->is_known && now - facts->looked_at < kLookAgain)) return facts;
  facts->looked_at = now;
  if (const auto info = find_group_info(node, group)) take_facts(*info, *facts);
  return facts->is_known ? facts : nullptr;
}

void OperationMetrics::on_done(const Node& node, const AskedCall& asked, const CallDone& done, Nanoseconds now) {
  const auto verdict = std::min(static_cast<std::size_t>(done.verdict), kVerdicts - 1);
  ++ended_[static_cast<std::size_t>(asked.operation) - 1][verdict];
  peaks_.payload_bytes = std::max(peaks_.payload_bytes, node.payload_bytes_used());
  if (done.verdict == Verdict::kOk) count_well_ended(node, asked, done, now);
}

void OperationMetrics::count_well_ended(const Node& node, const AskedCall& asked, const CallDone& done,
                                        Nanoseconds now) {
  const GroupFacts* facts = facts_of(node, asked.group, now);
  if (!facts) return void(++untracked_);
  const std::uint64_t bytes = total_bytes(asked, done.payload.length, facts->ranks);
  const bool planned = asked.choice.algorithm == Algorithm::kPlanned;
  const AlgorithmChoice choice = planned ? planned_choice(facts->plan, asked.operation, bytes) : asked.choice;
  LatencyHistogram* series = series_.find_or_add({asked.operation, choice});
  const auto size = static_cast<std::uint8_t>(size_class(bytes));
  Row* row = rows_.find_or_add({asked.group, asked.operation, size});
  if (series) series->add(now - asked.called_at);
  if (row) {
    row->choice = choice, row->type = asked.type, row->op = asked.op, row->bytes = bytes;
    ++row->calls;
    if (const Nanoseconds time = network_time(asked, done, facts->self, now); time > 0) row->add(time);
  }
  if (!series || !row) ++untracked_;
}

}  // namespace fibocast
