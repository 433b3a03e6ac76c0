#include "firmware_sim/kept_memory.h"

#include <deque>
#include <unordered_map>

// Of the address sanitizer; in other builds nobody defines them.
extern "C" {
[[gnu::weak]] void poison(const volatile void* address, std::size_t bytes) __asm__("__asan_poison_memory_region");
[[gnu::weak]] void unpoison(const volatile void* address, std::size_t bytes) __asm__("__asan_unpoison_memory_region");
}

namespace fibocast {
namespace {

constexpr std::size_t kMostKept = std::size_t{256} << 20;

struct Kept {
  std::unordered_map<std::size_t, std::deque<std::unique_ptr<std::byte[]>>> by_size;  // the oldest first
  std::size_t bytes = 0;
};

Kept& kept() {
  thread_local Kept kept;
  return kept;
}

}  // namespace

void KeepMemory::operator()(std::byte* memory) const {
  std::unique_ptr<std::byte[]> owned(memory);
  if (kept().bytes + bytes > kMostKept) return;
  if (poison) poison(memory, bytes);
  kept().by_size[bytes].push_back(std::move(owned));
  kept().bytes += bytes;
}

KeptMemory take_memory(std::size_t bytes) {
  auto& free = kept().by_size[bytes];
  if (free.empty()) return KeptMemory(new std::byte[bytes], {bytes});
  KeptMemory memory(free.front().release(), {bytes});
  free.pop_front();
  kept().bytes -= bytes;
  if (unpoison) unpoison(memory.get(), bytes);
  return memory;
}

}  // namespace fibocast
