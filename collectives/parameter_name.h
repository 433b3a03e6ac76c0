// The numbers in names of algorithms, as people write them: the alpha of "share:0.95", the lambda of "lambda:2.5". For
// tools, not the core.
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

// "2.5" or "5/2" as 250 parts of kWholeLambda. Nothing unless 1 <= lambda <= 655.35 with at most 2 decimals.
std::optional<std::uint16_t> parse_lambda(std::string_view text);
// "2.5". Precondition: lambda >= kWholeLambda.
std::string lambda_text(std::uint16_t lambda);

}  // namespace fibocast
