#include "collectives/element_names.h"

#include <algorithm>
#include <array>
#include <span>

namespace fibocast {
namespace {

// In the order of the values in shape.h.
constexpr std::array<std::string_view, 6> kTypes = {"bytes", "int32", "int64", "uint64", "float", "double"};
constexpr std::array<std::string_view, 8> kOperators = {"none", "min", "max", "sum", "prod", "and", "or", "xor"};
constexpr std::size_t kFirstOperator = 1;

// The place of `name` from `first` on; else the sentence.
std::optional<std::size_t> find(std::span<const std::string_view> names, std::size_t first, std::string_view name,
                                const std::string& what, std::string& error) {
  const auto found = std::find(names.begin() + static_cast<std::ptrdiff_t>(first), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  error = "there is no " + what + " \"" + std::string(name) + "\"; there are " + std::string(names[first]);
  for (const std::string_view other : names.subspan(first + 1)) error += ", " + std::string(other);
  return {};
}

}  // namespace

std::string_view element_type_name(ElementType type) { return kTypes.at(static_cast<std::size_t>(type)); }

std::optional<ElementType> element_type_by_name(std::string_view name, std::string& error) {
  const auto place = find(kTypes, 0, name, "type", error);
  return place ? std::optional(static_cast<ElementType>(*place)) : std::nullopt;
}

std::string_view combine_operator_name(CombineOperator op) { return kOperators.at(static_cast<std::size_t>(op)); }

std::optional<CombineOperator> combine_operator_by_name(std::string_view name, std::string& error) {
  const auto place = find(kOperators, kFirstOperator, name, "operator", error);
  return place ? std::optional(static_cast<CombineOperator>(*place)) : std::nullopt;
}

}  // namespace fibocast
