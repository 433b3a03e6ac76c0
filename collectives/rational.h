// Exact costs: 1.8 is 9/5 and never the nearest double, or optimal trees stop being optimal. Non-negative rationals
// in 64 bit; what does not fit is an exception (std::overflow_error), never a wrong number. For tools, not the core.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fibocast {

// Always in lowest terms. A value; thread-compatible.
class Rational {
 public:
  constexpr Rational() = default;
  // Throws std::invalid_argument if `denominator` is 0. Implicit from an integer on purpose: 3 is a rational.
  Rational(std::uint64_t numerator, std::uint64_t denominator = 1);  // NOLINT(google-explicit-constructor)

  std::uint64_t numerator() const { return numerator_; }
  std::uint64_t denominator() const { return denominator_; }
  bool is_integer() const { return denominator_ == 1; }
  double approximately() const;

  // "9/5"; whole numbers without a denominator.
  std::string to_string() const;
  // "1.8" if the decimal expansion ends within 64 bit, else "p/q" as to_string().
  std::string to_decimal_string() const;

  bool operator==(const Rational&) const = default;
  std::strong_ordering operator<=>(const Rational& other) const;

 private:
  std::uint64_t numerator_ = 0;
  std::uint64_t denominator_ = 1;
};

// All four throw std::overflow_error if the result does not fit; a - b for a < b and a / 0 throw std::domain_error.
Rational operator+(const Rational& a, const Rational& b);
Rational operator-(const Rational& a, const Rational& b);
Rational operator*(const Rational& a, const Rational& b);
Rational operator/(const Rational& a, const Rational& b);

// What somebody wrote on a command line: a plain number, or a time with a unit.
struct Quantity {
  Rational value;        // times: nanoseconds
  bool is_time = false;  // a unit was given
  bool operator==(const Quantity&) const = default;
};

// "9/5", "1.8", "27", and each with one of the units ns, us, ms, s. Nothing if it is none of these or too large.
std::optional<Quantity> parse_quantity(std::string_view text);

// Several rationals as multiples of one unit (A4: multiply by the lcm of the denominators).
struct CommonTicks {
  Rational unit = 1;                 // of one tick: 1 / lcm of the denominators
  std::vector<std::uint64_t> ticks;  // in the order of the values
};

// Throws std::overflow_error if a multiple does not fit.
CommonTicks to_common_ticks(std::span<const Rational> values);

}  // namespace fibocast
