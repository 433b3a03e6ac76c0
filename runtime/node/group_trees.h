// The given tree of a group (Plan::given) on its way to the members: it does not fit the definition, so it follows in
// pieces of one small message each, in order. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::group_trees {

inline constexpr Rank kPieceEntries = kMostPieceBytes / kTreeEntryBytes;
inline constexpr Rank kMostRanks = 254 * kPieceEntries;  // InquiryMember::told counts the messages

// Messages that follow a definition: none for trees that are formulas.
std::uint32_t pieces_of(const GroupState& g);
// Sends piece 0 .. pieces_of() - 1. False: the channel is full; again later.
bool send_piece(NodeState& state, NodeId to, const GroupState& g, std::uint32_t piece, Nanoseconds now);

// From now on the pieces of this definition are expected from this node, the first one first.
void begin_intake(NodeState& state, std::uint32_t group, NodeId from, Epoch epoch, Nanoseconds now);

enum class Progress : std::uint8_t {
  kMore,      // pieces are still to come
  kComplete,  // the tree is there, and is one
  kWrong,     // not the next piece, or no tree; or another one than a group in use already has
};
// Takes a piece in: into the group's table if it is `coming`; else it is only compared. Precondition: expected.
Progress take_piece(NodeState& state, std::uint32_t group, const PeerMessage& m);

// Definitions that nobody has gone on with until they were due are forgotten.
void on_timer(NodeState& state, std::uint32_t group, Nanoseconds now);

}  // namespace fibocast::group_trees
