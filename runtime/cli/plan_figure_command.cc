// fibocast plan figure: the papers' figures and tables as numbers.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <memory>

#include "collectives/models/figures.h"
#include "runtime/cli/plan_answer.h"
#include "runtime/cli/plan_command.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

// A number where a cell is one that JSON can say exactly enough; else the text.
Json cell_json(const std::string& cell) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value)) return cell;
  std::int64_t whole = 0;
  const auto [whole_end, whole_error] = std::from_chars(cell.data(), cell.data() + cell.size(), whole);
  if (whole_error == std::errc() && whole_end == cell.data() + cell.size()) return whole;
  return value;
}

void list_json(std::ostream& out) {
  Json list = Json::array();
  for (const FigureEntry& figure : all_figures()) list.push_back({{"figure", figure.id}, {"title", figure.title}});
  out << Json{{"figures", std::move(list)}}.dump() << '\n';
}

void list_text(std::ostream& out) {
  std::size_t width = 0;
  for (const FigureEntry& figure : all_figures()) width = std::max(width, figure.id.size());
  for (const FigureEntry& figure : all_figures())
    out << figure.id << std::string(width - figure.id.size() + 2, ' ') << figure.title << '\n';
}

void print_json(const FigureEntry& figure, const FigureTable& table, std::ostream& out) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json cells = Json::array();
    for (const std::string& cell : row) cells.push_back(cell_json(cell));
    rows.push_back(std::move(cells));
  }
  const Json json = {
      {"figure", figure.id}, {"title", figure.title}, {"columns", table.columns}, {"rows", std::move(rows)}};
  out << json.dump() << '\n';
}

void print_text(const FigureEntry& figure, const FigureTable& table, std::ostream& out) {
  std::vector<std::size_t> width;
  for (const std::string& column : table.columns) width.push_back(column.size());
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  const auto print_row = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i)
      out << (i == 0 ? "" : "  ") << std::string(width[i] - row[i].size(), ' ') << row[i];
    out << '\n';
  };
  out << figure.id << "  " << figure.title << "\n\n";
  print_row(table.columns);
  for (const auto& row : table.rows) print_row(row);
}

}  // namespace

int plan_figure(const PlanFigureOptions& options, std::ostream& out, std::ostream& err) {
  if (options.list) {
    options.json ? list_json(out) : list_text(out);
    return 0;
  }
  const auto figure = find_figure(options.figure);
  if (!figure)
    return explain(
        options.json,
        (options.figure.empty() ? "name a figure, as in 003:10" : "there is no figure \"" + options.figure + "\"") +
            "; fibocast plan figure --list names them all",
        out, err);
  options.json ? print_json(*figure, figure->make(), out) : print_text(*figure, figure->make(), out);
  return 0;
}

void add_plan_figure_command(CLI::App& plan, int& exit_code) {
  const auto options = std::make_shared<PlanFigureOptions>();
  CLI::App* app = plan.add_subcommand("figure", "A figure or table of the papers as numbers, computed");
  app->add_option("figure", options->figure, "PAPER:N, as in 003:10");
  app->add_flag("--list", options->list, "all that there are");
  app->add_flag("--json", options->json, "one JSON document on stdout, nothing else there");
  app->add_flag("--quiet", options->quiet, "no progress and no remarks: there are none");
  app->footer("Example: fibocast plan figure 003:10");
  app->callback([options, &exit_code] { exit_code = plan_figure(*options, std::cout, std::cerr); });
}

}  // namespace fibocast
