// Bruck et al. 1996: the figures and tables that follow from the model; Figs. 3-5, 10, 11, 13 and 14 are measurements.
#include <algorithm>
#include <array>

#include "collectives/alpha_partition.h"
#include "collectives/models/figure.h"
#include "collectives/models/postal_curve.h"
#include "collectives/models/postal_delay.h"
#include "collectives/models/postal_partition.h"
#include "collectives/postal_combine.h"
#include "collectives/tree_binomial.h"
#include "collectives/tree_lambda.h"

namespace fibocast {
namespace {

using Row = std::vector<std::string>;

const Rational kFig7Lambda(39, 20);
const Rational kFig9Lambda(1293, 1000);

LatencyRatio latencies(const Rational& lambda) { return *latencies_of_lambda(lambda); }

Rational in_sends(std::uint64_t ticks, const LatencyRatio& lambda) { return {ticks, lambda.s}; }

// B4: both at lambda = 2.
FigureTable tree_table(const Tree& tree) {
  FigureTable table{{"process", "parent", "active at"}, {}};
  const std::vector<std::uint64_t> time = activation_times(tree, 1, 1);
  for (Rank v = 0; v < tree.size(); ++v)
    table.rows.push_back({std::to_string(v), v == 0 ? "-" : std::to_string(tree.parent(v)), std::to_string(time[v])});
  return table;
}

FigureTable binomial_tree_of_8() { return tree_table(tree_binomial(8, BinomialVariant::kHalving)); }
FigureTable lambda_tree_of_8() { return tree_table(tree_lambda_queue(8, 1, 1)); }

// B8, B9
FigureTable legal_table(const Rational& lambda) {
  FigureTable table{{"n", "least n'", "most n'", "alpha from", "alpha below"}, {}};
  const LatencyRatio l = latencies(lambda);
  for (std::uint64_t n = 2; n <= 250; ++n) {
    const PartitionRange range = legal_partitions(n, l.s, l.r);
    const AlphaInterval alphas = legal_alphas(n, range);
    table.rows.push_back({std::to_string(n), std::to_string(range.least), std::to_string(range.most),
                          alphas.from.to_string(), alphas.below.to_string()});
  }
  return table;
}

FigureTable legal_partitions_at_2() { return legal_table(2); }
FigureTable legal_partitions_at_1_95() { return legal_table(kFig7Lambda); }

// B12
FigureTable triangles() {
  FigureTable table{{"t", "N(t)", "top alpha", "least n", "left bottom alpha", "right bottom alpha"}, {}};
  const LatencyRatio l = latencies(kFig7Lambda);
  for (const PartitionTriangle& t : partition_triangles(250, l))
    table.rows.push_back({in_sends(t.ticks, l).to_string(), std::to_string(t.top.ranks), t.top.alpha.to_string(),
                          std::to_string(t.left_bottom.ranks), t.left_bottom.alpha.to_string(),
                          t.right_bottom.alpha.to_string()});
  return table;
}

// B11: the table for n processes, not a part of a larger one.
FigureTable alpha_table_sizes() {
  FigureTable table{{"n", "entries"}, {}};
  const LatencyRatio l = latencies(kFig9Lambda);
  std::string error;
  for (std::uint64_t n = 10; n <= 1000; n += 10)
    table.rows.push_back({std::to_string(n), std::to_string(AlphaTable::make(n, l.s, l.r, error)->entries().size())});
  return table;
}

// B15
FigureTable times_over_alpha() {
  FigureTable table{{"lambda", "alpha from", "alpha below", "time"}, {}};
  for (const Rational& lambda : {Rational(21, 20), Rational(17, 10), Rational(9, 5), kFig7Lambda}) {
    const LatencyRatio l = latencies(lambda);
    for (const AlphaSegment& s : alpha_curve(64, l, {Rational(1, 2), Rational(7, 10)}))
      table.rows.push_back({lambda.to_decimal_string(), s.alphas.from.to_string(), s.alphas.below.to_string(),
                            in_sends(s.ticks, l).to_decimal_string()});
  }
  return table;
}

// B25
FigureTable combine_table(Rank ranks) {
  FigureTable table{{"round", "eps", "sends", "contributions", "offset"}, {}};
  const PostalCombine combine = *PostalCombine::make(ranks, 2);
  for (std::uint32_t q = 1; q <= combine.rounds(); ++q) {
    const CombineRound round = combine.round(q);
    table.rows.push_back({std::to_string(q), round.sends_s ? "1" : "0", round.sends_s ? "S" : "T",
                          std::to_string(round.count), std::to_string(round.offset)});
  }
  return table;
}

FigureTable combine_of_10() { return combine_table(10); }
FigureTable combine_of_14() { return combine_table(14); }

Row times_row(const std::string& first, const CombineTimes& times) {
  return {first, times.optimum.to_decimal_string(), times.delay_receive.to_decimal_string(),
          times.delay_send.to_decimal_string()};
}

// B26-B28
FigureTable combine_times_over_ranks() {
  FigureTable table{{"n", "lower bound", "delay receive", "delay send"}, {}};
  for (std::uint64_t n = 2; n <= 1024; n *= 2)
    table.rows.push_back(times_row(std::to_string(n), combine_times(n, latencies(Rational(5, 2)))));
  return table;
}

FigureTable combine_times_over_lambda() {
  FigureTable table{{"lambda", "lower bound", "delay receive", "delay send"}, {}};
  for (std::uint64_t tenths = 10; tenths <= 50; ++tenths) {
    const Rational lambda(tenths, 10);
    table.rows.push_back(times_row(lambda.to_decimal_string(), combine_times(64, latencies(lambda))));
  }
  return table;
}

// B29
FigureTable gamma_over_lambda() {
  FigureTable table{{"lambda", "gamma"}, {}};
  for (int m = 1; m <= 10; ++m) table.rows.push_back({std::to_string(m), number_text(postal_gamma(m))});
  return table;
}

// B30
FigureTable break_even_lambdas() {
  FigureTable table{{"m", "break-even lambda"}, {}};
  for (std::uint64_t m = 1; m <= 9; ++m) table.rows.push_back({std::to_string(m), number_text(combine_break_even(m))});
  return table;
}

}  // namespace

std::span<const FigureEntry> figures_000() {
  static constexpr std::array kFigures = {
      FigureEntry{"000:1", "the binomial tree of 8 processes, lambda = 2", binomial_tree_of_8},
      FigureEntry{"000:2", "the lambda-tree of 8 processes, lambda = 2", lambda_tree_of_8},
      FigureEntry{"000:6", "optimal partitions and fractions over n, lambda = 2", legal_partitions_at_2},
      FigureEntry{"000:7", "optimal partitions and fractions over n, lambda = 1.95", legal_partitions_at_1_95},
      FigureEntry{"000:8", "the triangles of optimal fractions, lambda = 1.95", triangles},
      FigureEntry{"000:9", "entries of the compressed alpha table over n, lambda = 1.293", alpha_table_sizes},
      FigureEntry{"000:12", "broadcast time over a constant alpha, 64 processes", times_over_alpha},
      FigureEntry{"000:15", "the global combine of 10 processes, lambda = 2", combine_of_10},
      FigureEntry{"000:16", "the global combine of 14 processes, lambda = 2", combine_of_14},
      FigureEntry{"000:17", "global combine by delayed receives or sends over n, lambda = 2.5",
                  combine_times_over_ranks},
      FigureEntry{"000:18", "global combine by delayed receives or sends over lambda, 64 processes",
                  combine_times_over_lambda},
      FigureEntry{"000:table1", "gamma over lambda", gamma_over_lambda},
      FigureEntry{"000:table2", "lambda at which delayed receives and sends are equally fast", break_even_lambdas},
  };
  return kFigures;
}

}  // namespace fibocast
