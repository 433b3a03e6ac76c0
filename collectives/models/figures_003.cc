// Cordsen et al. 1997: Figs. 4, 6, 7, 9, 10 and the numbers in the text of sections 3 to 6.
#include <algorithm>
#include <array>
#include <cmath>

#include "collectives/cost_model.h"
#include "collectives/growth.h"
#include "collectives/models/figure.h"
#include "collectives/tree_binomial.h"
#include "collectives/tree_fibo.h"
#include "collectives/tree_kary.h"
#include "collectives/tree_sequential.h"

namespace fibocast {
namespace {

using Row = std::vector<std::string>;

// The paper's machine, MANNA: microseconds.
constexpr std::uint64_t kMannaS = 27;
constexpr std::uint64_t kMannaR = 88;

std::string manna(const Tree& tree) { return std::to_string(completion(tree, kMannaS, kMannaR)); }

// A7
FigureTable growth_of_1_3() {
  FigureTable table{{"t", "f(t)"}, {}};
  for (int t = 0; t <= 20; ++t) table.rows.push_back({std::to_string(t), std::to_string(growth(t, 1, 3))});
  return table;
}

// A23
FigureTable times_by_tree_and_ratio() {
  FigureTable table{{"r", "processes", "binary", "eight-ary", "binomial"}, {}};
  for (const std::uint64_t r : {4u, 30u, 60u, 100u})
    for (Rank p = 1; p <= 64; ++p)
      table.rows.push_back({std::to_string(r), std::to_string(p), std::to_string(completion(tree_kary(p, 2), 20, r)),
                            std::to_string(completion(tree_kary(p, 8), 20, r)),
                            std::to_string(completion(tree_binomial(p), 20, r))});
  return table;
}

// A24: the base for r / s = 2 is where the curves of x^3 and x^2 + 1 cross.
FigureTable base_as_a_crossing() {
  FigureTable table{{"x", "x^3", "x^2 + 1"}, {}};
  std::vector<double> points = {growth_base(1, 2)};
  for (int i = 0; i <= 20; ++i) points.push_back(1 + i / 20.0);
  std::ranges::sort(points);
  for (const double x : points) table.rows.push_back({number_text(x), number_text(x * x * x), number_text(x * x + 1)});
  return table;
}

FigureTable base_over_ratio() {
  FigureTable table{{"r / s", "base"}, {}};
  for (int r = 0; r <= 10; ++r) table.rows.push_back({std::to_string(r), number_text(growth_base(1, r))});
  return table;
}

// A15
FigureTable fibo_tree_of_64() {
  FigureTable table{{"process", "parent", "active at"}, {}};
  const Tree tree = tree_fibo(64, 1, 3);
  const std::vector<std::uint64_t> time = activation_times(tree, 1, 3);
  for (Rank v = 0; v < tree.size(); ++v)
    table.rows.push_back({std::to_string(v), v == 0 ? "-" : std::to_string(tree.parent(v)), std::to_string(time[v])});
  return table;
}

// A25
FigureTable manna_times_by_tree() {
  FigureTable table{{"processes", "sequential", "Fibo(1,0)", "Fibo(1,1)", "Fibo(1,2)", "Fibo(1,3)"}, {}};
  for (Rank p = 2; p <= 20; ++p) {
    Row row = {std::to_string(p), manna(tree_sequential(p))};
    for (const std::uint64_t r : {0u, 1u, 2u, 3u}) row.push_back(manna(tree_fibo(p, 1, r)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// A22
FigureTable section_4_3() {
  const auto row = [](const char* name, const Tree& tree) {
    return Row{name, std::to_string(tree.size()), std::to_string(completion(tree, 1, 3))};
  };
  return {{"tree", "processes", "time"},
          {row("Fibo(1,3)", tree_fibo(64, 1, 3)), row("binomial", tree_binomial(64)),
           row("binary, heap order", tree_kary(64, 2)), row("binary, complete", tree_kary(127, 2)),
           row("eight-ary, heap order", tree_kary(64, 8)), row("eight-ary, complete", tree_kary(73, 8)),
           row("sequential", tree_sequential(64))}};
}

// A26, A27
FigureTable section_5() {
  FigureTable table{{"quantity", "us"}, {}};
  const LatencyRatio extracted = extract_latencies(115, 142).value();
  table.rows = {{"first receiver active at", "115"},
                {"second receiver active at", "142"},
                {"s", std::to_string(extracted.s)},
                {"r", std::to_string(extracted.r)},
                {"19 processes, sequential", manna(tree_sequential(19))}};
  for (const std::uint64_t r : {0u, 1u, 2u, 3u, 4u})
    table.rows.push_back({"19 processes, Fibo(1," + std::to_string(r) + ")", manna(tree_fibo(19, 1, r))});
  table.rows.push_back({"19 processes, binary", manna(tree_kary(19, 2))});
  table.rows.push_back({"19 processes, eight-ary", manna(tree_kary(19, 8))});
  return table;
}

// A28
FigureTable sequential_or_binomial() {
  FigureTable table{{"processes", "sequential", "binomial", "faster"}, {}};
  for (Rank p = 2; p <= 20; ++p) {
    const std::uint64_t sequential = completion(tree_sequential(p), kMannaS, kMannaR);
    const std::uint64_t binomial = completion(tree_binomial(p), kMannaS, kMannaR);
    const char* faster = sequential == binomial ? "equal" : sequential < binomial ? "sequential" : "binomial";
    table.rows.push_back({std::to_string(p), std::to_string(sequential), std::to_string(binomial), faster});
  }
  return table;
}

}  // namespace

std::span<const FigureEntry> figures_003() {
  static constexpr std::array kFigures = {
      FigureEntry{"003:section3.2",
                  "f(t) for s = 1, r = 3: processes that can be active at t (the paper prints 25 for 26)",
                  growth_of_1_3},
      FigureEntry{"003:4", "s = 20: time against the number of processes, by tree and r", times_by_tree_and_ratio},
      FigureEntry{"003:6", "the growth base for r / s = 2 is where x^3 and x^2 + 1 are equal", base_as_a_crossing},
      FigureEntry{"003:7", "growth base against r / s", base_over_ratio},
      FigureEntry{"003:9", "the Fibo-tree of 64 processes for s = 1, r = 3: each process's parent and time",
                  fibo_tree_of_64},
      FigureEntry{"003:10", "MANNA, s = 27 us, r = 88 us: us against the number of processes, by tree",
                  manna_times_by_tree},
      FigureEntry{"003:section4.3", "trees of about 64 processes for s = 1, r = 3", section_4_3},
      FigureEntry{"003:section5", "MANNA: s and r from two times, and 19 processes by tree", section_5},
      FigureEntry{"003:section5.binomial", "MANNA: where a sequential multicast beats a binomial one, us",
                  sequential_or_binomial},
  };
  return kFigures;
}

}  // namespace fibocast
