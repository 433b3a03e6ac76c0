#include "collectives/symbolic_value.h"

#include <algorithm>

#include "collectives/check.h"

namespace fibocast {

namespace {

// splitmix64: expressions that differ get different numbers but for one chance in 2^64.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

}  // namespace

SymbolicValue::SymbolicValue(Rank rank, Rank block)
    : block_(block), expression_(mixed(rank)), runs_{{rank, rank + 1}} {}

SymbolicValue SymbolicValue::combined(const SymbolicValue& left, const SymbolicValue& right) {
  check(!left.empty() && !right.empty() && left.block_ == right.block_);
  SymbolicValue value = left;
  value.expression_ = mixed(mixed(left.expression_) ^ right.expression_);
  for (const auto& run : right.runs_) {
    if (value.runs_.back().second == run.first)
      value.runs_.back().second = run.second;
    else
      value.runs_.push_back(run);
  }
  return value;
}

bool SymbolicValue::has_each_once(Rank ranks) const {
  std::vector<std::pair<Rank, Rank>> sorted = runs_;
  std::ranges::sort(sorted);
  Rank next = 0;
  for (const auto& [first, end] : sorted) {
    if (first != next) return false;
    next = end;
  }
  return next == ranks;
}

}  // namespace fibocast
