#include "runtime/cli/plan_timed_tree.h"

#include <ostream>
#include <utility>

#include "runtime/cli/plan_costs.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

constexpr Rank kMostDrawnRanks = 100;

void draw(const TimedTree& timed, bool is_time, Rank v, const std::string& indent, std::ostream& out) {
  out << v << "  at " << to_human(timed.time(timed.activation[v]), is_time) << '\n';
  const auto children = timed.tree.children(v);
  for (std::size_t i = 0; i < children.size(); ++i) {
    const bool last = i + 1 == children.size();
    out << indent << (last ? "`- " : "|- ");
    draw(timed, is_time, children[i], indent + (last ? "   " : "|  "), out);
  }
}

}  // namespace

void print_json(Json json, const TimedTree& timed, std::ostream& out) {
  json["completion"] = to_json(timed.time(timed.completion));
  json["reduction_completion"] = to_json(timed.time(timed.reduction_completion));
  Json parent = Json::array();
  Json children = Json::array();
  Json activation = Json::array();
  for (Rank v = 0; v < timed.tree.size(); ++v) {
    parent.push_back(v == timed.tree.root() ? Json(-1) : Json(timed.tree.parent(v)));
    children.push_back(timed.tree.children(v));
    activation.push_back(to_json(timed.time(timed.activation[v])));
  }
  json["parent"] = std::move(parent);
  json["children"] = std::move(children);
  json["activation"] = std::move(activation);
  out << json.dump() << '\n';
}

void print_text(const std::string& heading, const TimedTree& timed, bool is_time, const std::string& unit,
                std::ostream& out) {
  const auto human = [&](std::uint64_t ticks) { return to_human(timed.time(ticks), is_time) + unit; };
  out << heading << "\n\n";
  if (timed.tree.size() <= kMostDrawnRanks) {
    draw(timed, is_time, timed.tree.root(), "", out);
  } else {
    out << "(drawn up to " << kMostDrawnRanks << " ranks; --json has them all)\n";
  }
  out << "\ndistribution: " << human(timed.completion)
      << "\nreduction up the same tree: " << human(timed.reduction_completion) << '\n';
}

}  // namespace fibocast
