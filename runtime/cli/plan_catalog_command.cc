// fibocast plan catalog: the algorithms of every operation, as names, as JSON, or as the table of a README.
#include <iomanip>
#include <iostream>
#include <memory>

#include "collectives/algorithm_catalog.h"
#include "collectives/catalog_table.h"
#include "collectives/schedule.h"
#include "runtime/cli/plan_answer.h"
#include "runtime/cli/plan_command.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

Json catalog_json() {
  Json json = Json::array();
  for (const AlgorithmEntry& entry : algorithm_catalog())
    json.push_back({{"operation", operation_name(entry.operation)},
                    {"algorithm", entry.name},
                    {"description", entry.description},
                    {"same_bits", entry.same_bits},
                    {"keeps_order", entry.keeps_order}});
  return json;
}

void print_names(std::ostream& out) {
  for (const AlgorithmEntry& entry : algorithm_catalog())
    out << std::left << std::setw(10) << operation_name(entry.operation) << ' ' << std::setw(22) << entry.name << ' '
        << entry.description << '\n';
}

}  // namespace

int plan_catalog(const PlanCatalogOptions& options, std::ostream& out, std::ostream& err) {
  if (options.json && options.markdown) return explain(true, "give either --json or --markdown", out, err);
  if (options.json)
    out << Json{{"algorithms", catalog_json()}}.dump() << '\n';
  else if (options.markdown)
    out << catalog_table();
  else
    print_names(out);
  return 0;
}

void add_plan_catalog_command(CLI::App& plan, int& exit_code) {
  const auto options = std::make_shared<PlanCatalogOptions>();
  CLI::App* app = plan.add_subcommand("catalog", "The algorithms of every operation");
  app->add_flag("--markdown", options->markdown, "what each costs on MANNA with 19 ranks, as a table");
  app->add_flag("--json", options->json, "one JSON document on stdout, nothing else there");
  app->add_flag("--quiet", options->quiet, "no progress and no remarks: there are none");
  app->footer("Example: fibocast plan catalog");
  app->callback([options, &exit_code] { exit_code = plan_catalog(*options, std::cout, std::cerr); });
}

}  // namespace fibocast
