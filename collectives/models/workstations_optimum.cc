#include "collectives/models/workstations_optimum.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "collectives/check.h"

namespace fibocast {
namespace {

struct Sender {
  std::uint64_t sent;  // when its next send ends
  Rank rank;
};

// A part of a tree: who is informed and may still send, who is waiting.
struct Partial {
  std::vector<Sender> senders;
  std::vector<Rank> waiting;
  std::vector<Rank> parent;
  std::vector<Rank> order;
  std::uint64_t completion = 0;
};

// Always the sender whose send ends first: it serves one of the kinds of waiting nodes, or sends no more (C18).
class Search {
 public:
  Search(const HeterogeneousCosts& costs, Rank root)
      : costs_(costs), best_(best_tree_heterogeneous(costs, root)), best_completion_(completion(best_, costs)) {
    Partial start;
    start.senders = {{costs.nodes[root].send, root}};
    start.parent.assign(costs.nodes.size(), kNoRank);
    for (Rank v = 0; v < costs.nodes.size(); ++v)
      if (v != root) start.waiting.push_back(v);
    extend(start);
  }
  Tree best() && { return std::move(best_); }

 private:
  void extend(Partial partial) {
    if (partial.waiting.empty()) return finish(partial);
    if (partial.senders.empty()) return;
    const auto first = std::ranges::min_element(partial.senders, {}, [&](const Sender& sender) {
      return std::tuple(sender.sent, costs_.nodes[sender.rank].send, sender.rank);
    });
    const Sender sender = *first;
    if (at_least(partial, sender) >= best_completion_) return;
    partial.senders.erase(first);
    for (std::size_t i = 0; i < partial.waiting.size(); ++i)
      if (is_first_of_its_kind(partial.waiting, i)) extend(served(partial, sender, i));
    extend(std::move(partial));
  }

  // No waiting node can get its message earlier than the next send ends.
  std::uint64_t at_least(const Partial& partial, const Sender& next) const {
    std::uint64_t receive = 0;
    for (const Rank v : partial.waiting) receive = std::max(receive, costs_.nodes[v].receive);
    return std::max(partial.completion, next.sent + costs_.link + receive);
  }

  bool is_first_of_its_kind(const std::vector<Rank>& waiting, std::size_t i) const {
    const auto same = [&](Rank v) { return costs_.nodes[v] == costs_.nodes[waiting[i]]; };
    return std::none_of(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(i), same);
  }

  Partial served(Partial partial, const Sender& sender, std::size_t i) const {
    const Rank v = partial.waiting[i];
    const std::uint64_t active = sender.sent + costs_.link + costs_.nodes[v].receive;
    partial.waiting.erase(partial.waiting.begin() + static_cast<std::ptrdiff_t>(i));
    partial.senders.push_back({sender.sent + costs_.nodes[sender.rank].send, sender.rank});
    partial.senders.push_back({active + costs_.nodes[v].send, v});
    partial.parent[v] = sender.rank;
    partial.order.push_back(v);
    partial.completion = std::max(partial.completion, active);
    return partial;
  }

  void finish(const Partial& partial) {
    if (partial.completion >= best_completion_) return;
    best_completion_ = partial.completion;
    best_ = Tree::from_parents(partial.parent, partial.order);
  }

  const HeterogeneousCosts& costs_;
  Tree best_;
  std::uint64_t best_completion_;
};

}  // namespace

Tree optimal_workstation_tree(const HeterogeneousCosts& costs, Rank root) {
  check(root < costs.nodes.size() && costs.nodes.size() <= kMostOptimumNodes);
  return Search(costs, root).best();
}

}  // namespace fibocast
