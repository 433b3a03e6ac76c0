// The fraction alpha of a divide and conquer as people write it. For tools, not the core.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fibocast {

// "0.95" or "19/20" as 9500 parts of kWholeShare. Nothing unless 0 < alpha <= 1 with at most 4 decimals.
std::optional<std::uint16_t> parse_alpha(std::string_view text);
// "0.95". Precondition: alpha is 1 .. kWholeShare.
std::string alpha_text(std::uint16_t alpha);

}  // namespace fibocast
