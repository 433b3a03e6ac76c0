// n-ary trees in heap order, the other reference of Cordsen et al. 1997 (A20).
#pragma once

#include "collectives/tree.h"

namespace fibocast {

// The children of v are arity * v + 1 .. arity * v + arity, in that order. Preconditions: ranks >= 1, arity >= 1.
Tree tree_kary(Rank ranks, Rank arity);

}  // namespace fibocast
