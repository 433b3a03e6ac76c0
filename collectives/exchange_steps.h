// The total exchange on a binary fat tree as ONE leaf sees it: to whom it sends in which step, so that a node builds
// its own schedule alone (Dimakopoulos and Dimopoulos, E11 to E16). Core: no heap, no exceptions.
#pragma once

#include <cstdint>

#include "collectives/types.h"

namespace fibocast {

enum class ExchangeKind : std::uint8_t {
  kConstant,        // one link per branch (CBFT): n^2 / 4 packets cross the root one after the other
  kExponential,     // 2^(h-1) links per branch (EBFT): all leaves send at once
  kExponentialXor,  // one step shorter for n = 8, 16, 32 (the refuted conjecture, E16); otherwise kExponential
};

// A packet that leaves in `step` (1, 2, ..) for the leaf `peer`.
struct ExchangeStep {
  std::uint32_t step = 0;
  Rank peer = 0;
  bool operator==(const ExchangeStep&) const = default;
};

// Powers of two from 1 to 2^16: for more the steps of kConstant do not fit in 32 bit.
bool is_exchange_size(Rank n);

// Sends per leaf: n - 1. Precondition here and below: is_exchange_size(n).
std::uint32_t exchange_step_count(ExchangeKind kind, Rank n);

// The `index`-th send of leaf `me`, in ascending step order; a leaf sends at most once per step, and no two packets of
// all leaves ever need the same link in the same step. Phases overlap as in E13 (2). O(log n), the table of E16 O(n).
// Preconditions: me < n, index < exchange_step_count(kind, n).
ExchangeStep exchange_step(ExchangeKind kind, Rank n, Rank me, std::uint32_t index);

// The step at whose end every leaf has everything: (n^2 - 1) / 3 + 2 L - 1, n + 2 L - 2, or one less.
std::uint32_t exchange_steps(ExchangeKind kind, Rank n);

}  // namespace fibocast
