// Under the address sanitizer a large block comes from the system anew each time: what was freed is kept out of use.
// Who fills it then takes a page fault for each page, a third of the time of tests with many simulated nodes. Here the
// system maps the pages of such a block at once. What is found, and for how long, stays the same.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace {

constexpr std::size_t kPage = 4096, kLeast = 32 << 10, kMost = 4 << 20;  // larger ones may be used in part only

}  // namespace

// The sanitizer calls it after each allocation: sanitizer/allocator_interface.h.
extern "C" void __sanitizer_malloc_hook(const volatile void* block, std::size_t bytes) {
  if (bytes < kLeast || bytes > kMost) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(block) / kPage * kPage;
  const auto end = (reinterpret_cast<std::uintptr_t>(block) + bytes + kPage - 1) / kPage * kPage;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);  // an older system maps them one by one
}
