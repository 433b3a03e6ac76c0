#include "runtime/cli/tree_option.h"

#include <array>
#include <stdexcept>

#include "collectives/rational.h"
#include "collectives/tree_catalog.h"

namespace fibocast {
namespace {

// Both costs as integers in one unit.
Result<TreeParameters> parameters_of(const TreeOption& option) {
  const auto s = parse_quantity(option.s);
  const auto r = parse_quantity(option.r);
  if (!s || !r || s->value == Rational(0)) return invalid("costs are written 9/5, 1.8 or 27us, and s is not 0");
  if (s->is_time != r->is_time && r->value != Rational(0))
    return invalid("give s and r both with a unit or both without");
  try {
    const CommonTicks common = to_common_ticks(std::array{s->value, r->value});
    return TreeParameters{common.ticks[0], common.ticks[1]};
  } catch (const std::overflow_error&) {
    return invalid("the costs have too many digits");
  }
}

}  // namespace

Result<TreeSpec> tree_spec_of(const TreeOption& option) {
  auto parameters = parameters_of(option);
  if (!parameters.ok()) return parameters.status();
  std::string error;
  const auto choice = choose_tree(option.name, *parameters, error);
  if (!choice) return invalid(error);
  if (!choice->spec) return invalid("a daemon cannot run the tree '" + option.name + "'");
  return *choice->spec;
}

}  // namespace fibocast
