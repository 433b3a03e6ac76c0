#include "collectives/flood_order.h"

#include <algorithm>

#include "collectives/check.h"

namespace fibocast {
namespace {

Rank reverse_bits(Rank value, unsigned bits) {
  Rank result = 0;
  for (unsigned i = 0; i < bits; ++i) result |= (value >> i & 1) << (bits - 1 - i);
  return result;
}

// Each router alternates between its two children, which alternate between theirs: the bits of the index are those of
// the leaf's place, reversed. The first packet comes from level h in step h + 1.
FloodStep going_up(Rank leaves, Rank from, std::uint32_t index) {
  const unsigned level = level_of(leaves, from);
  return {level + 1 + index, first_leaf_below(leaves, from) + reverse_bits(index, level)};
}

// Down from level h two streams are merged: 2^(h-1) packets from the other child, which arrive from step h on, and
// the parent's, which arrive from step h + 2 on. So two of the first kind, then in turns, then the parent's alone.
struct Merged {
  bool from_child;
  std::uint32_t index;  // in that stream
};
Merged merged(std::uint32_t of_child, std::uint32_t index) {
  const auto head = std::min<std::uint32_t>(of_child, 2);
  if (index < head) return {true, index};
  const std::uint32_t rest = index - head;
  const std::uint32_t in_turns = of_child - head;
  if (rest < 2 * in_turns) return {rest % 2 == 0, rest / 2 + (rest % 2 == 0 ? head : 0)};
  return {false, rest - in_turns};
}

// The branch to one leaf is idle in step 3: its sibling's packet came at once, all others are three links away.
std::uint32_t down_step(unsigned level, std::uint32_t index) {
  return level + 1 + index + (level == 1 && index > 0 ? 1 : 0);
}

}  // namespace

std::uint32_t flood_count(Rank leaves, Rank from, Rank to) {
  const bool up = to > from;
  const Rank lower = up ? from : to;
  const Rank below = Rank{1} << level_of(leaves, lower);
  return up ? below : leaves - below;
}

FloodStep flood_order(Rank leaves, Rank from, Rank to, std::uint32_t index) {
  check(index < flood_count(leaves, from, to));
  if (to > from) return going_up(leaves, from, index);
  const std::uint32_t step = down_step(level_of(leaves, from), index);
  for (;;) {
    const TreeNeighbours around = neighbours(leaves, from);
    const bool is_root = around.parent == kNoRank;
    const auto [from_child, place] = is_root ? Merged{true, index} : merged(Rank{1} << level_of(leaves, to), index);
    if (from_child) {
      const Rank other = to == around.left ? around.right : around.left;
      return {step, going_up(leaves, other, place).source};
    }
    to = from;
    from = around.parent;
    index = place;
  }
}

std::uint32_t flood_steps(Rank leaves) {
  check(is_leaf_count(leaves));
  return leaves == 1 ? 0 : leaves == 2 ? 2 : leaves + 1;
}

}  // namespace fibocast
