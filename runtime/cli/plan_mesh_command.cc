// fibocast plan mesh: divide and conquer on a two-dimensional mesh (Lo et al. 1992).
#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

#include "collectives/models/mesh_times.h"
#include "collectives/tree_mesh.h"
#include "runtime/cli/plan_answer.h"
#include "runtime/cli/plan_command.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned kMostOrder = 60;    // 2^60 nodes: the times are formulas
constexpr unsigned kMostLaidOut = 16;  // nodes are listed one by one
constexpr unsigned kMostDrawnOrder = 6;

// What a message shrinks by from phase to phase. 1 / sqrt 2 is no rational.
struct Alpha {
  std::optional<Rational> exact;
  double value = 1;
};

std::optional<Alpha> parse_alpha(const std::string& text, std::string& error) {
  if (text == "1/sqrt2") return Alpha{{}, std::sqrt(0.5)};
  const auto quantity = parse_quantity(text);
  if (quantity && !quantity->is_time && quantity->value > Rational(0) && quantity->value <= Rational(1))
    return Alpha{quantity->value, quantity->value.approximately()};
  error = "--alpha must be a number above 0 and at most 1, like 1/2 or 0.7, or 1/sqrt2; not \"" + text + "\"";
  return {};
}

Json number(double value) { return value; }
Json number(const Rational& value) { return to_json(value); }

template <typename Number>
Json times_json(MeshMapping mapping, unsigned order, const Number& alpha) {
  const MeshTotals<Number> totals = mesh_totals(mapping, order, alpha);
  return {{"store_and_forward", number(totals.store_and_forward)},
          {"store_and_forward_lockstep", number(totals.lockstep)},
          {"wormhole", number(totals.wormhole)},
          {"perfect", number(totals.perfect)},
          {"slowdown_store_and_forward", number(totals.slowdown_store_and_forward())},
          {"slowdown_wormhole", number(totals.slowdown_wormhole())}};
}

// Exact if the fractions fit in 64 bit; a power of 0.9 soon does not.
Json times_json(MeshMapping mapping, unsigned order, const Alpha& alpha) {
  try {
    if (alpha.exact) {
      Json times = times_json(mapping, order, *alpha.exact);
      times["exact"] = true;
      return times;
    }
  } catch (const std::overflow_error&) {
  }
  Json times = times_json(mapping, order, alpha.value);
  times["exact"] = false;
  return times;
}

Json phases_json(MeshMapping mapping, unsigned order) {
  std::vector<MeshPhase> measured;
  if (order <= kMostLaidOut) measured = measure_mesh_phases(mapping, order);
  Json phases = Json::array();
  for (unsigned i = 1; i <= order; ++i) {
    const auto shape = mesh_phase_shape<Rational>(mapping, order, i);
    Json phase = {{"phase", i}, {"messages", std::uint64_t{1} << (i - 1)}};
    phase["dilation"] = to_json(shape.dilation);
    phase["interference"] = to_json(shape.interference);
    if (!measured.empty()) phase["messages_per_link"] = measured[i - 1].edges_per_link;
    phases.push_back(std::move(phase));
  }
  return phases;
}

void add_layout(Json& json, MeshMapping mapping, unsigned order) {
  Json parent = Json::array();
  Json phase = Json::array();
  Json x = Json::array();
  Json y = Json::array();
  for (Rank b = 0; b < Rank{1} << order; ++b) {
    const Rank above = divide_parent(order, b);
    const MeshPoint p = mesh_point(mapping, order, b);
    parent.push_back(above == kNoRank ? Json(-1) : Json(above));
    phase.push_back(divide_phase(order, b));
    x.push_back(p.x);
    y.push_back(p.y);
  }
  json["parent"] = std::move(parent);
  json["phase"] = std::move(phase);
  json["x"] = std::move(x);
  json["y"] = std::move(y);
}

Json mesh_json(const PlanMeshOptions& options, MeshMapping mapping, const Alpha& alpha) {
  Json json = {{"order", options.order}, {"nodes", std::uint64_t{1} << options.order}};
  json["mapping"] = mapping_name(mapping);
  json["alpha"] = alpha.exact ? to_json(*alpha.exact) : Json(options.alpha);
  json["width"] = std::uint64_t{1} << (options.order + 1) / 2;
  json["height"] = std::uint64_t{1} << options.order / 2;
  json["large_messages"] = times_json(mapping, options.order, alpha);
  json["small_messages"] = times_json(mapping, options.order, Alpha{Rational(1), 1});
  json["phases"] = phases_json(mapping, options.order);
  if (options.order <= kMostLaidOut) add_layout(json, mapping, options.order);
  return json;
}

void draw(MeshMapping mapping, unsigned order, std::ostream& out) {
  const MeshSize size = mesh_size(order);
  std::vector<Rank> label(std::size_t{size.width} * size.height);
  for (Rank b = 0; b < label.size(); ++b) {
    const MeshPoint p = mesh_point(mapping, order, b);
    label[p.y * size.width + p.x] = b;
  }
  for (std::size_t i = 0; i < label.size(); ++i)
    out << std::setw(4) << label[i] << ((i + 1) % size.width == 0 ? "\n" : "");
}

void print_times(const Json& times, const char* what, std::ostream& out) {
  out << '\n'
      << what << ": store-and-forward at most " << times["store_and_forward"] << " (in lockstep "
      << times["store_and_forward_lockstep"] << "), wormhole at most " << times["wormhole"] << ", perfect "
      << times["perfect"] << "\n  slowdown " << times["slowdown_store_and_forward"] << " and "
      << times["slowdown_wormhole"] << '\n';
}

void print_text(const Json& json, MeshMapping mapping, std::ostream& out) {
  const unsigned order = json["order"];
  out << json["nodes"] << " nodes on a mesh of " << json["width"] << " x " << json["height"] << ", "
      << json["mapping"].get<std::string>() << " mapping\n\n";
  if (order <= kMostDrawnOrder) draw(mapping, order, out);
  if (order > kMostDrawnOrder)
    out << "(drawn up to order " << kMostDrawnOrder << "; --json has the nodes up to " << kMostLaidOut << ")\n";
  out << "\nphase            messages      links  others on them\n";
  for (const Json& p : json["phases"])
    out << std::setw(5) << p["phase"].dump() << std::setw(20) << p["messages"].dump() << std::setw(11)
        << p["dilation"].dump() << std::setw(16) << p["interference"].dump() << '\n';
  print_times(json["large_messages"], "large messages", out);
  print_times(json["small_messages"], "small messages", out);
}

}  // namespace

int plan_mesh(const PlanMeshOptions& options, std::ostream& out, std::ostream& err) {
  std::string error;
  const auto mapping = parse_mesh_mapping(options.mapping);
  const auto alpha = parse_alpha(options.alpha, error);
  if (!mapping) error = "--mapping must be reflecting or growing, not \"" + options.mapping + "\"";
  if (options.order > kMostOrder) error = "--order must be 0 to " + std::to_string(kMostOrder);
  if (!error.empty()) return explain(options.json, error, out, err);
  const Json json = mesh_json(options, *mapping, *alpha);
  if (options.json) out << json.dump() << '\n';
  if (!options.json) print_text(json, *mapping, out);
  return 0;
}

void add_plan_mesh_command(CLI::App& plan, int& exit_code) {
  const auto options = std::make_shared<PlanMeshOptions>();
  CLI::App* app = plan.add_subcommand("mesh", "Divide and conquer on a mesh: where 2^N nodes lie, and what it takes");
  app->add_option("--order", options->order, "N: the binomial tree B(N) of 2^N nodes")->required();
  app->add_option("--mapping", options->mapping, "reflecting or growing")->capture_default_str();
  app->add_option("--alpha", options->alpha, "size of a part against the whole: above 0, at most 1; or 1/sqrt2")
      ->capture_default_str();
  app->add_flag("--json", options->json, "one JSON document on stdout, nothing else there");
  app->add_flag("--quiet", options->quiet, "no progress and no remarks: there are none");
  app->footer("Example: fibocast plan mesh --order 4 --mapping reflecting --alpha 1/2");
  app->callback([options, &exit_code] { exit_code = plan_mesh(*options, std::cout, std::cerr); });
}

}  // namespace fibocast
