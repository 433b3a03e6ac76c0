// All figures of all papers: what `fibocast plan figure` walks. A paper's figures join by one line in figures.cc.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "collectives/models/figure.h"

namespace fibocast {

// In the order of the papers' numbers.
std::vector<FigureEntry> all_figures();
std::optional<FigureEntry> find_figure(std::string_view id);

}  // namespace fibocast
