// Any tree that somebody writes down: one parent per rank. For tools, not the core.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "collectives/tree.h"

namespace fibocast {

inline constexpr Rank kMostTreeFileRanks = 10'000'000;

// The parent of rank 0, 1, 2, .., separated by blanks or new lines; "-" for the root; "#" begins a comment that ends
// with its line. A parent sends to its children in ascending order, or, after the word "order" and all ranks in some
// order, in the order in which they appear there:
//
//     - 0 0 1      # rank 0 is the root, ranks 1 and 2 its children, rank 3 the child of 1
//     order 0 2 1 3  # rank 0 sends to 2 first
//
// Nothing if the text says anything else; `error` is then a sentence, with the number of the line where there is one.
std::optional<Tree> parse_tree(std::string_view text, std::string& error);

// What parse_tree() reads, in one line of parents and one of the order.
std::string to_text(const Tree& tree);

}  // namespace fibocast
