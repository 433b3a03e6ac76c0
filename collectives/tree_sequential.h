// The reference of the papers: the root sends to everybody itself (A19).
#pragma once

#include "collectives/tree.h"

namespace fibocast {

// Root 0 sends to 1, 2, .., ranks - 1: (p - 1) s + r. Precondition: ranks >= 1.
Tree tree_sequential(Rank ranks);

}  // namespace fibocast
