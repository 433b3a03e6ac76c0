// Memory of a node's payloads that peers of its host may read. What a node sends them of it goes by reference: the
// receiver copies it from where it lies, once, when its turn has come, and nothing waits for room in a ring.
//
// The reliable channel keeps a payload until it was acknowledged, so a reference is good as long as anybody needs it.
// Who gives up earlier (a deadline has passed, a peer is lost) may use the memory for something else while a late
// receiver still reads there: each block counts how often it was given back, and what was read is thrown away if that
// has changed meanwhile.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fibocast {

inline constexpr std::size_t kGranuleBytes = 16 << 10;  // blocks are whole numbers of these
inline constexpr std::size_t kGranules = 4096;
inline constexpr std::size_t kAreaBytes = kGranules * kGranuleBytes;  // of addresses; memory is taken as it is needed
inline constexpr std::size_t kKeptAreaBytes = 4 << 20;                // ... and so much of it kept when it is not

// In the shared memory, zero at first.
struct PayloadAreaControl {
  std::array<std::atomic<std::uint32_t>, kGranules> given_back;  // blocks that began at this granule
};

struct PayloadReference {
  std::uint64_t at = 0;  // in the area
  std::uint32_t bytes = 0;
  std::uint32_t granule = 0;  // where its block begins
  std::uint32_t given_back = 0;
  std::uint32_t unused = 0;
};

// The owner's side. Not thread-safe.
class PayloadArea {
 public:
  // The area is `bytes`, mapped from `file` at `offset`; all three outlive it. No page of it has memory yet.
  PayloadArea(int file, std::size_t offset, PayloadAreaControl& control, std::span<std::byte> bytes);

  // Nothing: no room, or no memory. Valid until give_back().
  std::span<std::byte> take(std::size_t bytes);
  // Precondition: `block` begins what take() returned.
  void give_back(const std::byte* block);
  // Nothing: these bytes are not in a block that is taken.
  std::optional<PayloadReference> refer_to(std::span<const std::byte> payload) const;

 private:
  std::optional<std::size_t> find_free(std::size_t granules) const;
  bool commit(std::size_t first, std::size_t granules);
  void forget(std::size_t first, std::size_t granules);

  int file_;
  std::size_t offset_;
  PayloadAreaControl* control_;
  std::span<std::byte> bytes_;
  std::vector<std::uint16_t> block_;  // by granule: 1 + where its block begins; 0: free
  std::vector<bool> has_memory_;      // by granule
  std::size_t kept_granules_ = 0;     // free, with memory
};

// A peer's side: copies what is referred to. False: the reference makes no sense, or its owner has taken it back.
// Precondition: `to` has room for reference.bytes.
bool read_payload(const PayloadAreaControl& control, std::span<const std::byte> area, const PayloadReference& reference,
                  std::byte* to);

}  // namespace fibocast
