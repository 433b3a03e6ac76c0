#include "collectives/forecast_trees.h"

#include <algorithm>
#include <span>
#include <utility>

#include "collectives/given_tree.h"
#include "collectives/tree_binomial.h"
#include "collectives/tree_fibo.h"
#include "collectives/tree_kary.h"
#include "collectives/tree_phases.h"
#include "collectives/tree_sequential.h"

namespace fibocast {
namespace {

using Time = std::uint64_t;

class TreeForecast {
 public:
  TreeForecast(const OperationShape& shape, const CostModel& model) : shape_(shape), model_(model) {
    forecast_.loads.resize(shape.ranks);
    transfers_.assign(shape.ranks, 0);
  }

  // Up the tree: a rank sends when it has received from all children, first come first served.
  void reduce(const Tree& tree) {
    const std::vector<Rank> order = begin_phase(tree);
    std::vector<Time> ready(shape_.ranks, 0);
    std::vector<std::pair<Time, Rank>> arrivals;
    for (auto v = order.rbegin(); v != order.rend(); ++v) {
      arrivals.clear();
      for (const Rank child : tree.children(*v))
        arrivals.emplace_back(ready[child] + send_time(bytes_up(child)) + model_.latency, child);
      std::ranges::sort(arrivals);
      for (const auto& [arrival, child] : arrivals) {
        ready[*v] = std::max(ready[*v], arrival) + receive_time(bytes_up(child));
        count_messages(child, *v, 1, bytes_up(child));
      }
    }
    forecast_.completion = forecast_.reduced = ready[tree.root()];
  }

  // Down the tree, from when the root is ready. A port serves requests in the order in which they are made: a rank with
  // one processor receives the next segment before it sends the last one on, if that comes in time.
  void distribute(const Tree& tree) {
    const std::vector<Rank> order = begin_phase(tree);
    arrivals_.assign(shape_.ranks, {});
    arrivals_[tree.root()].assign(segments(), forecast_.reduced);
    for (const Rank v : order) {
      pass_on(tree, v);
      std::vector<Time>().swap(arrivals_[v]);
    }
  }

  Forecast take() {
    forecast_.transfers = *std::ranges::max_element(transfers_);
    return std::move(forecast_);
  }

 private:
  bool is_by_blocks() const {
    return shape_.operation == Operation::kScatter || shape_.operation == Operation::kGather;
  }
  bool has_data() const { return shape_.operation != Operation::kBarrier; }
  std::uint32_t segments() const { return is_by_blocks() || !has_data() ? 1 : shape_.segments(); }
  Time send_time(std::uint64_t bytes) const { return model_.send + bytes * model_.send_per_byte; }
  Time receive_time(std::uint64_t bytes) const { return model_.occupancy + bytes * model_.occupancy_per_byte; }

  // All that goes between a rank and its parent.
  std::uint64_t bytes_up(Rank v) const {
    if (!has_data()) return 0;
    return is_by_blocks() ? subtree_[v] * shape_.total_bytes : shape_.total_bytes;
  }
  std::uint64_t bytes_down(Rank v, std::uint32_t segment) const {
    if (segments() == 1) return bytes_up(v);
    const std::uint64_t before = std::uint64_t{segment} * shape_.segment_bytes;
    return std::min<std::uint64_t>(shape_.segment_bytes, shape_.total_bytes - before);
  }

  std::vector<Rank> begin_phase(const Tree& tree) {
    std::vector<Rank> order = tree.from_root_down();
    ++forecast_.stages;
    std::vector<std::uint32_t> depth(shape_.ranks, 0);
    for (const Rank v : order)
      if (v != tree.root()) depth[v] = depth[tree.parent(v)] + 1, ++transfers_[v], ++transfers_[tree.parent(v)];
    forecast_.rounds += *std::ranges::max_element(depth);
    if (is_by_blocks()) count_subtrees(tree, order);
    return order;
  }

  void count_subtrees(const Tree& tree, std::span<const Rank> order) {
    subtree_.assign(shape_.ranks, 1);
    for (std::size_t i = order.size(); i > 1; --i) subtree_[tree.parent(order[i - 1])] += subtree_[order[i - 1]];
  }

  // `times` messages with these bytes together.
  void count_messages(Rank from, Rank to, std::uint64_t times, std::uint64_t bytes) {
    forecast_.messages += times;
    forecast_.loads[from].ticks += times * model_.send + bytes * model_.send_per_byte;
    forecast_.loads[to].ticks += times * model_.occupancy + bytes * model_.occupancy_per_byte;
    forecast_.loads[from].bytes += bytes, forecast_.loads[to].bytes += bytes;
  }

  void pass_on(const Tree& tree, Rank v) {
    const bool shared = model_.ports == Ports::kShared;
    Time sending = 0, receiving = 0;
    Time& receive_port = shared ? sending : receiving;
    sent_ = 0;
    received_.clear();
    for (const Rank child : tree.children(v)) arrivals_[child].reserve(segments());
    for (std::uint32_t k = 0; k < segments(); ++k) {
      const Time arrival = arrivals_[v][k];
      while (sent_ < received_.size() && received_[sent_] < arrival) send_on(tree, v, sending);
      receive_port = std::max(receive_port, arrival);
      if (v != tree.root()) receive_port += receive_time(bytes_down(v, k));
      received_.push_back(receive_port);
    }
    while (sent_ < received_.size()) send_on(tree, v, sending);
    forecast_.completion = std::max(forecast_.completion, received_.back());
    for (const Rank child : tree.children(v)) count_messages(v, child, segments(), bytes_up(child));
  }

  // The next segment to all children.
  void send_on(const Tree& tree, Rank v, Time& port) {
    const auto segment = static_cast<std::uint32_t>(sent_);
    port = std::max(port, received_[sent_++]);
    for (const Rank child : tree.children(v)) {
      port += send_time(bytes_down(child, segment));
      arrivals_[child].push_back(port + model_.latency);
    }
  }

  const OperationShape& shape_;
  const CostModel& model_;
  Forecast forecast_;
  std::vector<std::uint64_t> transfers_;     // by rank
  std::vector<std::uint64_t> subtree_;       // by rank: its size
  std::vector<std::vector<Time>> arrivals_;  // by rank and segment: when it asks to be received
  std::vector<Time> received_;               // of one rank, by segment
  std::size_t sent_ = 0;                     // segments that this rank has passed on
};

bool goes_up(Operation operation) { return operation != Operation::kMulticast && operation != Operation::kScatter; }
bool goes_down(Operation operation) { return operation != Operation::kReduce && operation != Operation::kGather; }

}  // namespace

Tree whole_tree(const TreeSpec& spec, Rank ranks, const TreeTable& given) {
  switch (spec.kind) {
    case TreeKind::kSequential: return tree_sequential(ranks);
    case TreeKind::kBinomial: return tree_binomial(ranks);
    case TreeKind::kKary: return tree_kary(ranks, spec.arity);
    case TreeKind::kGiven: return tree_of(given);
    case TreeKind::kFibo:
    case TreeKind::kLambda: break;
  }
  return tree_fibo(ranks, spec.s, spec.r);
}

std::optional<Forecast> forecast_trees(const Plan& plan, const OperationShape& shape, const CostModel& model) {
  const TreeSpec up = reduction_tree(plan, shape.choice), down = distribution_tree(plan, shape.choice);
  const bool by_blocks = shape.operation == Operation::kScatter || shape.operation == Operation::kGather;
  const auto suits = [&](const TreeSpec& tree) {
    if (tree.kind == TreeKind::kGiven && plan.given.ranks() != shape.ranks) return false;
    return is_valid(tree) && (!by_blocks || has_contiguous_subtrees(tree.kind));
  };
  if ((goes_up(shape.operation) && !suits(up)) || (goes_down(shape.operation) && !suits(down))) return {};
  TreeForecast result(shape, model);
  if (goes_up(shape.operation)) result.reduce(whole_tree(up, shape.ranks, plan.given));
  if (goes_down(shape.operation)) result.distribute(whole_tree(down, shape.ranks, plan.given));
  return result.take();
}

}  // namespace fibocast
