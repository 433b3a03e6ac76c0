// The words for what a reduction combines and how: "double", "sum". One plain table each, for every command that takes
// them. For tools, not the core.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "collectives/shape.h"

namespace fibocast {

// "bytes", "int32", "int64", "uint64", "float", "double".
std::string_view element_type_name(ElementType type);
// Nothing for another word; `error` is then a sentence that lists these.
std::optional<ElementType> element_type_by_name(std::string_view name, std::string& error);

// "min", "max", "sum", "prod", "and", "or", "xor"; "none" for kNone, which nobody can ask for.
std::string_view combine_operator_name(CombineOperator op);
// As above.
std::optional<CombineOperator> combine_operator_by_name(std::string_view name, std::string& error);

}  // namespace fibocast
