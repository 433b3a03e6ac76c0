// The table of costs in README.md, generated from the catalogue so that it cannot be out of date: a test compares.
// For tools, not the core.
#pragma once

#include <string>

namespace fibocast {

inline constexpr const char* kCatalogTableBegin = "<!-- begin: fibocast plan catalog --markdown -->\n";
inline constexpr const char* kCatalogTableEnd = "<!-- end -->\n";

// Each algorithm on MANNA with 19 ranks: s = 27 us, o = 88 us, and 20 ns per byte at either end.
std::string catalog_table();

}  // namespace fibocast
