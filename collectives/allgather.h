// Allgather: everybody gets the block of each rank. Around the ring; in log2 p rounds (Bruck et al. 1997); straight
// from each; or by flooding through the routers of a tree (Dimakopoulos and Dimopoulos, E7). Core: no heap, no
// exceptions.
#pragma once

#include "collectives/plan.h"

namespace fibocast {

// Writes rank `me`'s stages. False: a flood among an even number of ranks. Precondition: me < ranks.
bool write_allgather(const OperationShape& shape, Rank me, ScheduleWriter& out);

// Flooding: of 2n - 1 ranks the first n are leaves, the others routers of a binary tree. The two children of router
// n + k are 2k and 2k + 1, so the root is 2n - 2; for n = 2^L this is the fat tree.
struct FloodNeighbours {
  Rank at[3] = {kNoRank, kNoRank, kNoRank};  // parent, left, right
};
FloodNeighbours flood_neighbours(Rank leaves, Rank me);

}  // namespace fibocast
