// A figure or table of a paper as numbers: what `fibocast plan figure PAPER:N` prints. One file per paper
// (figures_000.cc ..) computes them from the models; nothing measured is in them. For tools, not the core.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fibocast {

struct FigureTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // a number each, exact where it is ("9/5", "311"), or a name
};

struct FigureEntry {
  std::string_view id;     // "003:4", "001:table1"
  std::string_view title;  // one line: what is drawn against what, with the parameters
  FigureTable (*make)();
};

// By paper: 000 the postal model, 001 heterogeneous workstations, 002 meshes, 003 Fibo-trees, 004 fat trees.
std::span<const FigureEntry> figures_000();
std::span<const FigureEntry> figures_001();
std::span<const FigureEntry> figures_002();
std::span<const FigureEntry> figures_003();
std::span<const FigureEntry> figures_004();

// For the cells: 7 significant digits ("1.618034"), whole numbers without a point.
std::string number_text(double value);

}  // namespace fibocast
