#include "collectives/combine_kernel.h"

#include <cstring>
#include <type_traits>

#include "collectives/check.h"

namespace fibocast {

namespace {

// Element by element through copies, which the compiler turns into plain loads: the bytes may lie anywhere.
template <class T, class Function>
void each(const std::byte* left, const std::byte* right, std::byte* out, std::size_t bytes, Function function) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    T a, b;
    std::memcpy(&a, left + i, sizeof a);
    std::memcpy(&b, right + i, sizeof b);
    const T result = function(a, b);
    std::memcpy(out + i, &result, sizeof result);
  }
}

// Signed integers wrap around like unsigned ones instead of being undefined.
template <class T>
T sum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
}
template <class T>
T product(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) * static_cast<std::make_unsigned_t<T>>(b));
}

template <class T>
void combine_as(CombineOperator op, const std::byte* left, const std::byte* right, std::byte* out, std::size_t bytes) {
  switch (op) {
    case CombineOperator::kMin: return each<T>(left, right, out, bytes, [](T a, T b) { return b < a ? b : a; });
    case CombineOperator::kMax: return each<T>(left, right, out, bytes, [](T a, T b) { return a < b ? b : a; });
    case CombineOperator::kSum: return each<T>(left, right, out, bytes, sum<T>);
    case CombineOperator::kProd: return each<T>(left, right, out, bytes, product<T>);
    default: break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case CombineOperator::kAnd: return each<T>(left, right, out, bytes, [](T a, T b) { return T(a & b); });
      case CombineOperator::kOr: return each<T>(left, right, out, bytes, [](T a, T b) { return T(a | b); });
      case CombineOperator::kXor: return each<T>(left, right, out, bytes, [](T a, T b) { return T(a ^ b); });
      default: break;
    }
  }
  check(false);
}

}  // namespace

void combine_elements(CombineOperator op, ElementType type, const std::byte* left, const std::byte* right,
                      std::byte* out, std::size_t bytes) {
  switch (type) {
    case ElementType::kBytes: return combine_as<std::uint8_t>(op, left, right, out, bytes);
    case ElementType::kInt32: return combine_as<std::int32_t>(op, left, right, out, bytes);
    case ElementType::kInt64: return combine_as<std::int64_t>(op, left, right, out, bytes);
    case ElementType::kUint64: return combine_as<std::uint64_t>(op, left, right, out, bytes);
    case ElementType::kFloat: return combine_as<float>(op, left, right, out, bytes);
    case ElementType::kDouble: return combine_as<double>(op, left, right, out, bytes);
  }
}

}  // namespace fibocast
