// Memory of simulated nodes: what one gives back the next one of that size gets. Given back to the system it would be
// cleared anew, page by page, which took half of a swarm's time.
#pragma once

#include <cstddef>
#include <memory>

namespace fibocast {

struct KeepMemory {
  std::size_t bytes = 0;
  void operator()(std::byte* memory) const;
};
using KeptMemory = std::unique_ptr<std::byte[], KeepMemory>;

// Aligned for max_align_t; it holds anything. At most 256 MiB of what was given back are kept, for each thread; under a
// sanitizer, which is to see who still uses it, nothing.
KeptMemory take_memory(std::size_t bytes);

}  // namespace fibocast
