#include "collectives/dissemination.h"

namespace fibocast {

bool write_dissemination(const OperationShape& shape, Rank me, ScheduleWriter& out) {
  const std::uint64_t p = shape.ranks, k = shape.choice.parameter;
  if (k < 2) return false;
  std::uint8_t stage = 0;
  out.begin_stage({.waits_for_arrival = true});
  for (std::uint64_t step = 1; step < p && out.ok(); step *= k) {
    const auto next = static_cast<std::uint8_t>(stage + 1);
    for (std::uint64_t j = 1; j < k && j * step < p; ++j)
      out.send({.peer = static_cast<Rank>((me + j * step) % p), .stage = next});
    out.begin_stage({.after = stage});
    for (std::uint64_t j = 1; j < k && j * step < p; ++j)
      out.receive({.peer = static_cast<Rank>((me + p - j * step) % p), .stage = next});
    stage = next;
  }
  return true;
}

}  // namespace fibocast
