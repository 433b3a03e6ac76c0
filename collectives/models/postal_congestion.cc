#include "collectives/models/postal_congestion.h"

#include <algorithm>

#include "collectives/tree_lambda.h"

namespace fibocast {
namespace {

constexpr std::size_t kMostRanks = 4096;

// The directed links of an XY route: the row of `from` between two columns, then the column of `to` between two rows.
struct Route {
  std::int64_t from_row, from_column, to_row, to_column;
};

struct MeshMessage {
  std::uint64_t dispatch;
  Route route;
};

// Both walk from a to b and from c to d on one line, over at least one link in the same direction.
bool overlap(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  if ((a < b) != (c < d) || a == b || c == d) return false;
  return std::max(std::min(a, b), std::min(c, d)) < std::min(std::max(a, b), std::max(c, d));
}

bool share_a_link(const Route& p, const Route& q) {
  const bool in_row = p.from_row == q.from_row && overlap(p.from_column, p.to_column, q.from_column, q.to_column);
  return in_row || (p.to_column == q.to_column && overlap(p.from_row, p.to_row, q.from_row, q.to_row));
}

std::string mistake(const MeshPlacement& mesh) {
  if (mesh.pids.empty() || mesh.pids.size() > kMostRanks)
    return "conflicts are counted for 1 to " + std::to_string(kMostRanks) + " ranks";
  std::vector<std::uint32_t> sorted = mesh.pids;
  std::ranges::sort(sorted);
  if (sorted.back() >= std::uint64_t{mesh.rows} * mesh.columns) return "a processor is not on the mesh";
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return "a processor is twice in the list";
  return {};
}

Route route_between(const MeshPlacement& mesh, Rank from, Rank to) {
  const std::uint32_t a = mesh.pids[from];
  const std::uint32_t b = mesh.pids[to];
  return {a / mesh.columns, a % mesh.columns, b / mesh.columns, b % mesh.columns};
}

std::vector<MeshMessage> messages_of(const MeshPlacement& mesh, const LatencyRatio& lambda, const Tree& tree) {
  const std::vector<std::uint64_t> ready = activation_times(tree, lambda.s, lambda.r);
  std::vector<MeshMessage> messages;
  for (Rank v = 1; v < tree.size(); ++v)
    messages.push_back({ready[v] - lambda.s - lambda.r, route_between(mesh, tree.parent(v), v)});
  std::ranges::sort(messages, {}, &MeshMessage::dispatch);
  return messages;
}

}  // namespace

MeshPlacement row_major_placement(std::uint32_t rows, std::uint32_t columns, std::uint32_t source) {
  MeshPlacement placement{rows, columns, {}};
  const std::uint32_t count = rows * columns;
  for (std::uint32_t v = 0; v < count; ++v) placement.pids.push_back((source + v) % count);
  return placement;
}

std::optional<std::uint64_t> count_conflicts(const MeshPlacement& placement, const LatencyRatio& lambda,
                                             std::uint64_t hold,
                                             const std::function<std::uint64_t(std::uint64_t)>& kept,
                                             std::string& error) {
  error = mistake(placement);
  if (!error.empty()) return {};
  const Tree tree = tree_lambda_partition(static_cast<Rank>(placement.pids.size()), kept);
  const std::vector<MeshMessage> messages = messages_of(placement, lambda, tree);
  std::uint64_t pairs = 0;
  for (std::size_t i = 0; i < messages.size(); ++i)
    for (std::size_t j = i + 1; j < messages.size() && messages[j].dispatch - messages[i].dispatch < hold; ++j)
      if (share_a_link(messages[i].route, messages[j].route)) ++pairs;
  return pairs;
}

}  // namespace fibocast
