// How far a long measurement is, on a terminal.
#pragma once

#include <cstddef>
#include <string>

namespace fibocast {

// Draws over the line before, on standard error; the last one (done == all) ends the line. `what`: "repetitions".
void draw_progress(std::size_t done, std::size_t all, const std::string& what);

}  // namespace fibocast
