#include "collectives/models/figures.h"

#include <array>

namespace fibocast {
namespace {

// One line per paper.
constexpr std::array kPapers = {
    figures_000, figures_001, figures_002, figures_003, figures_004,
};

}  // namespace

std::vector<FigureEntry> all_figures() {
  std::vector<FigureEntry> all;
  for (const auto figures : kPapers) {
    const std::span<const FigureEntry> entries = figures();
    all.insert(all.end(), entries.begin(), entries.end());
  }
  return all;
}

std::optional<FigureEntry> find_figure(std::string_view id) {
  for (const FigureEntry& figure : all_figures())
    if (figure.id == id) return figure;
  return {};
}

}  // namespace fibocast
