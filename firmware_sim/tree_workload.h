// Operations along a tree that no plan names: of another numbering, or made for machines whose nodes differ.
#pragma once

#include <optional>

#include "collectives/schedule.h"
#include "collectives/tree.h"

namespace fibocast {

// Barrier, multicast or reduction along `tree`, whose root must be rank 0; a parent receives in ascending order of
// ranks. Nothing for other operations. Precondition: shape.ranks == tree.size().
std::optional<Schedule> schedule_along(const Tree& tree, const OperationShape& shape);

}  // namespace fibocast
