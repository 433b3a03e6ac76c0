#include "firmware_sim/full_node_limits.h"

#include <algorithm>
#include <vector>

#include "collectives/data_layout.h"
#include "firmware_sim/rank_programs.h"
#include "runtime/node/node.h"

namespace fibocast {
namespace {

constexpr std::uint64_t kMostGib = 8;

// One group, in which two generations are open at most; sends are paced by the emulated card, so windows fill slowly.
Limits one_operation(Rank ranks) {
  Limits l = Limits::simulated();
  l.nodes = ranks, l.groups = 1, l.channels = 1, l.stages = 2, l.transfers = 1;
  l.small_window = 8, l.bulk_streams = 8, l.bulk_window = 64;
  l.local_work = 256, l.buffers = 256, l.slowest_ranks = 0;
  return l;
}

void grow(Limits& l, const RankSchedule& schedule) {
  l.stages = std::max(l.stages, static_cast<std::uint32_t>(schedule.stages.size()));
  l.transfers = std::max(l.transfers, static_cast<std::uint32_t>(schedule.transfers.size()));
}

// Different peers of one rank in both schedules. Virtual ranks of the operation are rotated by its root.
std::uint32_t peers_in(const RankSchedule& operation, const RankSchedule& barrier, Rank ranks, Rank root) {
  std::vector<Rank> peers;
  for (const Transfer& t : operation.transfers) peers.push_back((t.peer + root) % ranks);
  for (const Transfer& t : barrier.transfers) peers.push_back(Rank{t.peer});
  std::ranges::sort(peers);
  return static_cast<std::uint32_t>(std::unique(peers.begin(), peers.end()) - peers.begin());
}

bool fits_memory(const Limits& l, std::string& error) {
  constexpr std::uint64_t kMib = 1 << 20;
  const std::uint64_t mib = l.nodes * std::uint64_t{Node::bytes_needed(l)} / kMib;
  if (mib <= kMostGib * 1024) return true;
  error = std::to_string(l.nodes) + " whole nodes with up to " + std::to_string(l.channels) + " peers each need " +
          std::to_string(mib) + " MiB, of which " + std::to_string(kMostGib * 1024) +
          " may be used: fewer ranks, or trees with fewer children";
  return false;
}

// What a rank brings has a quarter of its node's budget. A node without place for it would run without the data.
bool takes_bytes(const Limits& l, const OperationShape& shape, std::string& error) {
  const std::uint64_t most = l.payload_bytes / 4;
  const std::uint64_t bytes = shape.total_bytes > most ? shape.total_bytes : input_bytes(shape, 0);
  if (bytes <= most) return true;
  error = "a rank brings " + std::to_string(bytes) + " bytes, and whole nodes take " + std::to_string(most) +
          " at most: choose fewer, or engines alone";
  return false;
}

std::optional<Limits> limits_for(const Plan& plan, const OperationShape& shape, Rank root, std::string& error) {
  if (!takes_bytes(one_operation(shape.ranks), shape, error)) return {};
  const OperationShape window{.ranks = shape.ranks, .choice = {Algorithm::kTrees}};
  const auto operation = RankPrograms::build(workload_of(plan, shape)),
             barrier = RankPrograms::build(workload_of(plan, window));
  if (!operation || !barrier) {
    error = "some rank has no schedule for whole nodes: too many stages or transfers";
    return {};
  }
  Limits l = one_operation(shape.ranks);
  for (Rank v = 0; v < shape.ranks; ++v) {
    const RankSchedule own = operation->schedule(v), told = barrier->schedule((v + root) % shape.ranks);
    grow(l, own);
    grow(l, told);
    l.channels = std::max(l.channels, peers_in(own, told, shape.ranks, root));
  }
  l.nic_queue = 4 * l.transfers + 512;
  return l;
}

}  // namespace

std::optional<Limits> full_node_limits(const Plan& plan, const OperationShape& shape, Rank root, std::string& error) {
  const auto limits = limits_for(plan, shape, root, error);
  return limits && fits_memory(*limits, error) ? limits : std::nullopt;
}

std::optional<Limits> connected_node_limits(const Plan& plan, const OperationShape& shape, Rank root,
                                            std::string& error) {
  auto limits = limits_for(plan, shape, root, error);
  if (limits) limits->channels = shape.ranks;
  return limits && fits_memory(*limits, error) ? limits : std::nullopt;
}

}  // namespace fibocast
