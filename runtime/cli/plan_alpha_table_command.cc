// fibocast plan alpha-table: the compressed table of fractions for one lambda.
#include <iostream>
#include <memory>
#include <ostream>

#include "collectives/alpha_partition.h"
#include "collectives/models/postal_partition.h"
#include "runtime/cli/plan_answer.h"
#include "runtime/cli/plan_command.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

void print_json(const PlanAlphaTableOptions& options, const Rational& lambda, const AlphaTable& table,
                std::ostream& out) {
  Json entries = Json::array();
  for (const AlphaEntry& entry : table.entries())
    entries.push_back({{"max", entry.most_ranks},
                       {"from", entry.alphas.from.to_string()},
                       {"below", entry.alphas.below.to_string()},
                       {"alpha", entry.alpha().to_string()}});
  const auto single = single_alpha(lambda);
  out << Json{{"lambda", to_json(lambda)},
              {"max", options.max_ranks},
              {"size", table.entries().size()},
              {"entries", entries},
              {"single_alpha", single ? Json(*single) : Json()}}
             .dump()
      << '\n';
}

void print_text(const Rational& lambda, const AlphaTable& table, std::ostream& out) {
  out << "lambda = " << lambda.to_decimal_string() << ": of n ranks the sender keeps alpha n, rounded half up\n\n";
  for (const AlphaEntry& entry : table.entries())
    out << "n up to " << entry.most_ranks << ": " << entry.alphas.from.to_string() << " <= alpha < "
        << entry.alphas.below.to_string() << ", middle " << entry.alpha().to_string() << '\n';
  if (const auto single = single_alpha(lambda)) out << "\none alpha serves every n: " << *single << '\n';
}

// A sentence if something is wrong.
std::string answer_alpha_table(const PlanAlphaTableOptions& options, std::ostream& out) {
  std::string error;
  const auto lambda = parse_quantity(options.lambda);
  if (!lambda || lambda->is_time) return "--lambda " + options.lambda + " is no ratio: write 9/5 or 1.8";
  const auto latencies = postal_latencies(lambda->value, error);
  if (!latencies) return error;
  const auto table = AlphaTable::make(options.max_ranks, latencies->s, latencies->r, error);
  if (!table) return error;
  options.json ? print_json(options, lambda->value, *table, out) : print_text(lambda->value, *table, out);
  return {};
}

}  // namespace

void add_alpha_table_command(CLI::App& plan, int& exit_code) {
  const auto options = std::make_shared<PlanAlphaTableOptions>();
  CLI::App* app = plan.add_subcommand("alpha-table", "Where an optimal broadcast cuts a list of ranks in two");
  app->add_option("--lambda", options->lambda, "1 + r / s: 9/5 or 1.8")->required();
  app->add_option("--max", options->max_ranks, "the most ranks that the table is to serve")->required();
  app->add_flag("--json", options->json, "one JSON document on stdout, nothing else there");
  app->add_flag("--quiet", options->quiet, "no progress and no remarks: there are none");
  app->footer("Example: fibocast plan alpha-table --lambda 1.8 --max 64");
  app->callback([options, &exit_code] { exit_code = plan_alpha_table(*options, std::cout, std::cerr); });
}

int plan_alpha_table(const PlanAlphaTableOptions& options, std::ostream& out, std::ostream& err) {
  const std::string error = answer_alpha_table(options, out);
  return error.empty() ? 0 : explain(options.json, error, out, err);
}

}  // namespace fibocast
