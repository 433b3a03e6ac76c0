#include "collectives/tree_lambda.h"

#include "collectives/check.h"
#include "collectives/growth.h"
#include "collectives/tree_fibo.h"

namespace fibocast {
namespace {

struct Sender {
  Rank rank;
  std::uint64_t time;  // of its next send
};

// A queue that only grows at the end; both stay sorted by time.
struct Queue {
  std::vector<Sender> entries;
  std::size_t head = 0;
  bool empty() const { return head == entries.size(); }
  std::uint64_t time() const { return entries[head].time; }
};

}  // namespace

Tree tree_lambda_queue(Rank ranks, std::uint64_t s, std::uint64_t r) {
  check(ranks >= 1 && are_latencies_valid(s, r));
  std::vector<Rank> parent = {kNoRank};
  parent.reserve(ranks);
  Queue fresh{{{0, 0}}};
  Queue old;
  while (parent.size() < ranks) {
    const bool from_old = !old.empty() && (fresh.empty() || old.time() <= fresh.time());
    Queue& queue = from_old ? old : fresh;
    const Sender sender = queue.entries[queue.head++];
    fresh.entries.push_back({static_cast<Rank>(parent.size()), sender.time + s + r});
    old.entries.push_back({sender.rank, sender.time + s});
    parent.push_back(sender.rank);
  }
  return Tree::from_parents(std::move(parent), SendOrder::kAscending);
}

Tree tree_lambda_descent(Rank ranks, std::uint64_t s, std::uint64_t r) { return tree_fibo(ranks, s, r); }

}  // namespace fibocast
