#include "collectives/exchange_steps.h"

#include <array>
#include <bit>
#include <span>

#include "collectives/check.h"
#include "collectives/fat_tree_shape.h"

namespace fibocast {
namespace {

// E16: in step s all leaves use the next unused offset of this class (0: none); class c has 2^(c-1) .. 2^c - 1.
// The steps of arrival s + 2c - 1 are distinct, so no link is needed twice.
using OffsetClass = std::uint8_t;
constexpr std::array<OffsetClass, 8> kClasses8 = {3, 3, 3, 1, 3, 2, 0, 2};
constexpr std::array<OffsetClass, 18> kClasses16 = {4, 4, 4, 4, 4, 1, 4, 4, 4, 2, 0, 3, 3, 3, 3, 0, 0, 2};
constexpr std::array<OffsetClass, 34> kClasses32 = {5, 5, 5, 5, 5, 5, 5, 1, 5, 5, 5, 5, 5, 2, 5, 5, 5,
                                                    5, 0, 2, 4, 4, 4, 4, 4, 4, 4, 4, 0, 0, 3, 3, 3, 3};

std::span<const OffsetClass> xor_classes(ExchangeKind kind, Rank n) {
  if (kind != ExchangeKind::kExponentialXor) return {};
  if (n == 8) return kClasses8;
  if (n == 16) return kClasses16;
  if (n == 32) return kClasses32;
  return {};
}

ExchangeStep xor_step(std::span<const OffsetClass> classes, Rank me, std::uint32_t index) {
  std::array<Rank, 6> used{};
  std::uint32_t sent = 0;
  for (std::uint32_t s = 0; s < classes.size(); ++s) {
    const OffsetClass c = classes[s];
    if (c == 0) continue;
    if (sent++ == index) return {s + 1, me ^ ((Rank{1} << (c - 1)) + used[c])};
    ++used[c];
  }
  check(false);
  return {};
}

// Steps in which the phase that swaps halves of `half` leaves dispatches: M^2 / c_h (E11).
std::uint32_t phase_steps(ExchangeKind kind, Rank half) { return kind == ExchangeKind::kConstant ? half * half : half; }

// The first dispatch is two steps after the last one of the phase above: a step earlier collides (E13).
std::uint32_t first_step(ExchangeKind kind, Rank n, Rank half) {
  std::uint32_t step = 1;
  for (Rank above = n / 2; above > half; above /= 2) step += phase_steps(kind, above) + 2;
  return step;
}

}  // namespace

bool is_exchange_size(Rank n) { return std::has_single_bit(n) && n <= (Rank{1} << 16); }

std::uint32_t exchange_step_count(ExchangeKind, Rank n) {
  check(is_exchange_size(n));
  return n - 1;
}

ExchangeStep exchange_step(ExchangeKind kind, Rank n, Rank me, std::uint32_t index) {
  check(is_exchange_size(n) && me < n && index < n - 1);
  const auto classes = xor_classes(kind, n);
  if (!classes.empty()) return xor_step(classes, me, index);
  // Phases send n/2, n/4, .., 1 packets from each leaf; what is still to be sent says in which one we are.
  const Rank half = std::bit_floor(n - 1 - index);
  const Rank l = index - (n - 2 * half);
  const std::uint32_t turn = kind == ExchangeKind::kConstant ? (me % half) * half : 0;
  return {first_step(kind, n, half) + turn + l, me ^ half ^ l};
}

std::uint32_t exchange_steps(ExchangeKind kind, Rank n) {
  check(is_exchange_size(n));
  if (n == 1) return 0;
  if (!xor_classes(kind, n).empty()) return n + 2 * tree_levels(n) - 3;
  return first_step(kind, n, 1) + 1;
}

}  // namespace fibocast
