#include "collectives/models/fat_tree_scatter.h"

#include <algorithm>
#include <utility>

#include "collectives/check.h"

namespace fibocast {
namespace {

void append_class(std::vector<Rank>& offsets, unsigned i) {
  for (Rank x = Rank{1} << (i - 1); x < Rank{1} << i; ++x) offsets.push_back(x);
}

std::vector<Rank> offsets_of(Rank leaves, ScatterOrder order) {
  const unsigned levels = tree_levels(leaves);
  std::vector<Rank> offsets;
  for (unsigned i = 1; i <= levels; ++i)
    append_class(offsets, order == ScatterOrder::kNearestFirst ? i : levels + 1 - i);
  return offsets;
}

void append_scatter(std::vector<FatTreeDispatch>& schedule, Rank source, const std::vector<Rank>& offsets) {
  for (std::size_t i = 0; i < offsets.size(); ++i) schedule.push_back({i + 1, source, source ^ offsets[i]});
}

}  // namespace

std::vector<FatTreeDispatch> scatter_schedule(Rank leaves, Rank source, ScatterOrder order) {
  check(source < leaves);
  std::vector<FatTreeDispatch> schedule;
  append_scatter(schedule, source, offsets_of(leaves, order));
  return schedule;
}

// A packet that arrives at the end of step t leaves in step T + 1 - t when time runs backwards.
std::vector<FatTreeDispatch> gather_schedule(Rank leaves, Rank destination) {
  std::vector<FatTreeDispatch> schedule;
  for (const FatTreeDispatch& d : scatter_schedule(leaves, destination, ScatterOrder::kFarthestFirst)) {
    const std::uint64_t arrival = d.step + 2 * common_level(d.source, d.destination) - 1;
    schedule.push_back({scatter_steps(leaves) + 1 - arrival, d.destination, destination});
  }
  std::sort(schedule.begin(), schedule.end());
  return schedule;
}

std::uint64_t scatter_class_completion(Rank leaves, unsigned i) {
  check(i >= 1 && i <= tree_levels(leaves));
  return leaves - (std::uint64_t{1} << (i - 1)) + 2 * i - 1;
}

std::uint64_t scatter_steps(Rank leaves) {
  check(is_leaf_count(leaves));
  return leaves == 1 ? 0 : leaves == 2 ? 2 : std::uint64_t{leaves} + 1;
}

// In plain ascending order the two would meet; the last two offsets of the top class are exchanged.
std::vector<FatTreeDispatch> pair_scatter(Rank leaves, Rank k) {
  check(is_leaf_count(leaves) && leaves >= 4 && k < leaves / 2);
  std::vector<Rank> offsets = offsets_of(leaves, ScatterOrder::kFarthestFirst);
  std::swap(offsets[leaves / 2 - 1], offsets[leaves / 2 - 2]);
  std::vector<FatTreeDispatch> schedule;
  append_scatter(schedule, k, offsets);
  append_scatter(schedule, leaves - 1 - k, offsets);
  return schedule;
}

std::vector<FatTreeDispatch> pair_scatter_schedule(Rank leaves) {
  std::vector<FatTreeDispatch> schedule;
  for (Rank k = 0; k < leaves / 2; ++k)
    for (FatTreeDispatch d : pair_scatter(leaves, k)) {
      d.step += k * (std::uint64_t{leaves} + 1);
      schedule.push_back(d);
    }
  std::sort(schedule.begin(), schedule.end());
  return schedule;
}

}  // namespace fibocast
