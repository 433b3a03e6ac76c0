#include "collectives/parameter_name.h"

#include "collectives/rational.h"
#include "collectives/shape.h"

namespace fibocast {
namespace {

// Of a whole of `parts`. Nothing unless least <= value <= most, in whole parts.
std::optional<std::uint16_t> parse_parts(std::string_view text, std::uint16_t parts, const Rational& least,
                                         const Rational& most) {
  const auto quantity = parse_quantity(text);
  if (!quantity || quantity->is_time) return {};
  const Rational& value = quantity->value;
  if (value < least || value > most || parts % value.denominator() != 0) return {};
  return static_cast<std::uint16_t>(parts / value.denominator() * value.numerator());
}

}  // namespace

std::optional<std::uint16_t> parse_alpha(std::string_view text) {
  return parse_parts(text, kWholeShare, {1, kWholeShare}, 1);
}

std::string alpha_text(std::uint16_t alpha) { return Rational(alpha, kWholeShare).to_decimal_string(); }

std::optional<std::uint16_t> parse_lambda(std::string_view text) {
  return parse_parts(text, kWholeLambda, 1, {UINT16_MAX, kWholeLambda});
}

std::string lambda_text(std::uint16_t lambda) { return Rational(lambda, kWholeLambda).to_decimal_string(); }

}  // namespace fibocast
