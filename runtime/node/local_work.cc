#include "runtime/node/local_work.h"

#include <cstring>

#include "collectives/combine_kernel.h"

namespace fibocast {

void do_local_work(const LocalWork& work, const std::byte* right, std::byte* out) {
  const auto length = static_cast<std::size_t>(work.out.length);
  if (length == 0) return;
  if (work.clears) {
    std::memset(out + work.out.offset, 0, length);
    return;
  }
  if (work.op != CombineOperator::kNone)
    return combine_elements(work.op, work.type, out + work.left.offset, right + work.right.offset,
                            out + work.out.offset, length);
  auto from = static_cast<std::int64_t>(work.right.offset), to = static_cast<std::int64_t>(work.out.offset);
  for (std::uint32_t run = 0; run < work.runs; ++run, from += work.right_step, to += work.out_step)
    std::memmove(out + to, right + from, length);
}

}  // namespace fibocast
