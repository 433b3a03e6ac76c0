#include "collectives/rational.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <stdexcept>

namespace fibocast {
namespace {

__extension__ typedef unsigned __int128 Wide;  // the tools run where there is one

std::uint64_t narrow(Wide value) {
  if (value > UINT64_MAX) throw std::overflow_error("a number does not fit in 64 bit");
  return static_cast<std::uint64_t>(value);
}

Wide greatest_common_divisor(Wide a, Wide b) {
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// The quotient in lowest terms, if that fits.
Rational quotient(Wide numerator, Wide denominator) {
  const Wide common = greatest_common_divisor(numerator, denominator);
  return {narrow(numerator / common), narrow(denominator / common)};
}

bool parse_digits(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

// "9/5", "1.8" or "27".
std::optional<Rational> parse_number(std::string_view text) {
  std::uint64_t whole = 0;
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    std::uint64_t denominator = 0;
    if (!parse_digits(text.substr(0, slash), whole) || !parse_digits(text.substr(slash + 1), denominator)) return {};
    if (denominator == 0) return {};
    return Rational(whole, denominator);
  }
  const auto point = text.find('.');
  if (!parse_digits(text.substr(0, point), whole)) return {};
  if (point == std::string_view::npos) return Rational(whole);
  const std::string_view digits = text.substr(point + 1);
  std::uint64_t fraction = 0;
  if (digits.size() > 18 || !parse_digits(digits, fraction)) return {};
  std::uint64_t power = 1;
  for (std::size_t i = 0; i < digits.size(); ++i) power *= 10;
  return Rational(whole) + Rational(fraction, power);
}

struct Unit {
  std::string_view name;
  std::uint64_t nanoseconds;
};
constexpr std::array<Unit, 4> kUnits = {{{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};

}  // namespace

Rational::Rational(std::uint64_t numerator, std::uint64_t denominator) {
  if (denominator == 0) throw std::invalid_argument("a denominator is 0");
  const std::uint64_t common = std::gcd(numerator, denominator);
  numerator_ = numerator / common;
  denominator_ = denominator / common;
}

double Rational::approximately() const { return static_cast<double>(numerator_) / static_cast<double>(denominator_); }

std::string Rational::to_string() const {
  std::string text = std::to_string(numerator_);
  if (denominator_ != 1) text.append("/").append(std::to_string(denominator_));
  return text;
}

std::string Rational::to_decimal_string() const {
  std::string digits;
  Wide rest = numerator_ % denominator_;
  while (rest != 0 && digits.size() < 18) {
    rest *= 10;
    digits += static_cast<char>('0' + static_cast<int>(rest / denominator_));
    rest %= denominator_;
  }
  if (rest != 0) return to_string();
  std::string text = std::to_string(numerator_ / denominator_);
  if (!digits.empty()) text.append(".").append(digits);
  return text;
}

std::strong_ordering Rational::operator<=>(const Rational& other) const {
  return Wide{numerator_} * other.denominator_ <=> Wide{other.numerator_} * denominator_;
}

Rational operator+(const Rational& a, const Rational& b) {
  const std::uint64_t common = std::gcd(a.denominator(), b.denominator());
  const Wide left = Wide{a.numerator()} * (b.denominator() / common);
  const Wide right = Wide{b.numerator()} * (a.denominator() / common);
  if (left + right < left) throw std::overflow_error("a number does not fit in 64 bit");
  return quotient(left + right, Wide{a.denominator()} * (b.denominator() / common));
}

Rational operator-(const Rational& a, const Rational& b) {
  if (a < b) throw std::domain_error("a difference is negative");
  const std::uint64_t common = std::gcd(a.denominator(), b.denominator());
  const Wide left = Wide{a.numerator()} * (b.denominator() / common);
  const Wide right = Wide{b.numerator()} * (a.denominator() / common);
  return quotient(left - right, Wide{a.denominator()} * (b.denominator() / common));
}

Rational operator*(const Rational& a, const Rational& b) {
  return quotient(Wide{a.numerator()} * b.numerator(), Wide{a.denominator()} * b.denominator());
}

Rational operator/(const Rational& a, const Rational& b) {
  if (b.numerator() == 0) throw std::domain_error("a division by 0");
  return quotient(Wide{a.numerator()} * b.denominator(), Wide{a.denominator()} * b.numerator());
}

std::optional<Quantity> parse_quantity(std::string_view text) {
  const auto unit_at = std::min(text.find_first_not_of("0123456789./"), text.size());
  const std::string_view unit = text.substr(unit_at);
  try {
    const std::optional<Rational> number = parse_number(text.substr(0, unit_at));
    if (!number) return {};
    if (unit.empty()) return Quantity{*number, false};
    const auto known = std::ranges::find(kUnits, unit, &Unit::name);
    if (known == kUnits.end()) return {};
    return Quantity{*number * known->nanoseconds, true};
  } catch (const std::overflow_error&) {
    return {};
  }
}

CommonTicks to_common_ticks(std::span<const Rational> values) {
  std::uint64_t multiple = 1;
  for (const Rational& v : values)
    multiple = narrow(Wide{multiple} * (v.denominator() / std::gcd(multiple, v.denominator())));
  CommonTicks result{.unit = Rational(1, multiple), .ticks = {}};
  for (const Rational& v : values) result.ticks.push_back(narrow(Wide{v.numerator()} * (multiple / v.denominator())));
  return result;
}

}  // namespace fibocast
