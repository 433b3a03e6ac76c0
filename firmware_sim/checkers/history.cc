#include "firmware_sim/checkers/history.h"

#include <algorithm>
#include <cstring>

namespace fibocast {

// FNV-1a, eight bytes at a time.
Fingerprint fingerprint(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
    hash = (hash ^ word) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  return {bytes.size(), hash};
}

}  // namespace fibocast
