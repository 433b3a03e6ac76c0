#include "runtime/node/group_trees.h"

#include <algorithm>
#include <array>

#include "runtime/node/groups.h"
#include "runtime/node/peers.h"

namespace fibocast::group_trees {

namespace {

// Rank and first child, 16 bits each, little-endian; the places follow from them.
void write_entry(const TreeTableEntry& e, std::span<std::byte> out) {
  const std::uint32_t both = e.rank | std::uint32_t{e.first_child} << 16;
  for (std::size_t i = 0; i < kTreeEntryBytes; ++i) out[i] = static_cast<std::byte>(both >> (8 * i) & 0xff);
}

TreeTableEntry read_entry(std::span<const std::byte> in) {
  std::uint32_t both = 0;
  for (std::size_t i = 0; i < kTreeEntryBytes; ++i) both |= std::to_integer<std::uint32_t>(in[i]) << (8 * i);
  return {static_cast<std::uint16_t>(both & 0xffff), static_cast<std::uint16_t>(both >> 16), 0};
}

bool is_next(const GroupState& g, const PeerMessage& m, Rank entries) {
  const Rank left = groups::size_of(g) - g.intake.taken;
  return m.first == g.intake.taken && entries == std::min(left, kPieceEntries) &&
         m.piece.size() == entries * kTreeEntryBytes;
}

bool put(TreeTableEntry& place, const TreeTableEntry& e, bool coming) {
  if (coming) place = e;
  return coming || (place.rank == e.rank && place.first_child == e.first_child);
}

}  // namespace

std::uint32_t pieces_of(const GroupState& g) { return (g.plan.given.ranks() + kPieceEntries - 1) / kPieceEntries; }

bool send_piece(NodeState& state, NodeId to, const GroupState& g, std::uint32_t piece, Nanoseconds now) {
  std::array<std::byte, kMostPieceBytes> bytes;
  const Rank first = piece * kPieceEntries;
  const auto entries = g.plan.given.entries().subspan(first, std::min(kPieceEntries, g.plan.given.ranks() - first));
  for (std::size_t i = 0; i < entries.size(); ++i)
    write_entry(entries[i], std::span(bytes).subspan(i * kTreeEntryBytes, kTreeEntryBytes));
  PeerMessage m;
  m.type = PeerMessageType::kGroupTree;
  m.group = g.id, m.epoch = g.epoch, m.first = first;
  m.piece = std::span(bytes).first(entries.size() * kTreeEntryBytes);
  return peers::send(state, to, m, false, now);
}

void begin_intake(NodeState& state, std::uint32_t group, NodeId from, Epoch epoch, Nanoseconds now) {
  TreeIntake& intake = state.groups[group].intake;
  intake = {.from = from, .epoch = epoch, .taken = 0, .due = now + state.settings.group_patience};
  state.slot_timer = std::min(state.slot_timer, intake.due);
}

Progress take_piece(NodeState& state, std::uint32_t group, const PeerMessage& m) {
  GroupState& g = state.groups[group];
  const auto table = groups::tree_entries(state, group);
  const auto entries = static_cast<Rank>(m.piece.size() / kTreeEntryBytes);
  if (!is_next(g, m, entries)) return Progress::kWrong;
  for (Rank i = 0; i < entries; ++i) {
    const TreeTableEntry e = read_entry(m.piece.subspan(i * kTreeEntryBytes, kTreeEntryBytes));
    if (!put(table[m.first + i], e, g.coming)) return Progress::kWrong;
  }
  g.intake.taken += entries;
  if (g.intake.taken < groups::size_of(g)) return Progress::kMore;
  return !g.coming || complete_table(table) ? Progress::kComplete : Progress::kWrong;
}

void on_timer(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (g.intake.due <= now) groups::end_intake(g);
  state.slot_timer = std::min(state.slot_timer, g.intake.due);
}

}  // namespace fibocast::group_trees
