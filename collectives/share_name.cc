#include "collectives/share_name.h"

#include "collectives/rational.h"
#include "collectives/shape.h"

namespace fibocast {

std::optional<std::uint16_t> parse_alpha(std::string_view text) {
  const auto quantity = parse_quantity(text);
  if (!quantity || quantity->is_time) return {};
  const Rational& alpha = quantity->value;
  if (alpha == Rational(0) || alpha > Rational(1) || kWholeShare % alpha.denominator() != 0) return {};
  return static_cast<std::uint16_t>(kWholeShare / alpha.denominator() * alpha.numerator());
}

std::string alpha_text(std::uint16_t alpha) { return Rational(alpha, kWholeShare).to_decimal_string(); }

}  // namespace fibocast
