#include "firmware_sim/kept_memory.h"

#include <unordered_map>
#include <vector>

namespace fibocast {
namespace {

constexpr std::size_t kMostKept = std::size_t{FIBOCAST_KEPT_MIB} << 20;

struct Kept {
  std::unordered_map<std::size_t, std::vector<std::unique_ptr<std::byte[]>>> by_size;
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
  kept().by_size[bytes].push_back(std::move(owned));
  kept().bytes += bytes;
}

KeptMemory take_memory(std::size_t bytes) {
  auto& free = kept().by_size[bytes];
  if (free.empty()) return KeptMemory(new std::byte[bytes], {bytes});
  KeptMemory memory(free.back().release(), {bytes});
  free.pop_back();
  kept().bytes -= bytes;
  return memory;
}

}  // namespace fibocast
