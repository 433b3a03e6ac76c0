#include "transport/payload_area.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "transport/check.h"

namespace fibocast {
namespace {

std::size_t granules_for(std::size_t bytes) { return (bytes + kGranuleBytes - 1) / kGranuleBytes; }

}  // namespace

PayloadArea::PayloadArea(int file, std::size_t offset, PayloadAreaControl& control, std::span<std::byte> bytes)
    : file_(file), offset_(offset), control_(&control), bytes_(bytes), block_(kGranules), has_memory_(kGranules) {
  check_channel(bytes.size() == kAreaBytes);
}

// The first that is large enough: what is used again and again stays at the front.
std::optional<std::size_t> PayloadArea::find_free(std::size_t granules) const {
  std::size_t run = 0;
  for (std::size_t i = 0; i < kGranules; ++i) {
    run = block_[i] == 0 ? run + 1 : 0;
    if (run == granules) return i + 1 - granules;
  }
  return std::nullopt;
}

// Memory now: a page that is missing later would kill whoever touches it.
bool PayloadArea::commit(std::size_t first, std::size_t granules) {
  const auto from = has_memory_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto missing = static_cast<std::size_t>(std::count(from, from + static_cast<std::ptrdiff_t>(granules), false));
  if (missing > 0 && posix_fallocate(file_, static_cast<off_t>(offset_ + first * kGranuleBytes),
                                     static_cast<off_t>(granules * kGranuleBytes)) != 0)
    return false;
  std::fill_n(from, granules, true);
  kept_granules_ -= granules - missing;
  return true;
}

void PayloadArea::forget(std::size_t first, std::size_t granules) {
  const int punched =
      fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset_ + first * kGranuleBytes),
                static_cast<off_t>(granules * kGranuleBytes));
  if (punched == 0)
    std::fill_n(has_memory_.begin() + static_cast<std::ptrdiff_t>(first), granules, false);
  else
    kept_granules_ += granules;
}

std::span<std::byte> PayloadArea::take(std::size_t bytes) {
  const std::size_t granules = granules_for(bytes);
  const auto first = granules > 0 && granules <= kGranules ? find_free(granules) : std::nullopt;
  if (!first || !commit(*first, granules)) return {};
  std::fill_n(block_.begin() + static_cast<std::ptrdiff_t>(*first), granules, static_cast<std::uint16_t>(*first + 1));
  return bytes_.subspan(*first * kGranuleBytes, bytes);
}

void PayloadArea::give_back(const std::byte* block) {
  const auto first = static_cast<std::size_t>(block - bytes_.data()) / kGranuleBytes;
  check_channel(first < kGranules && block_[first] == first + 1);
  control_->given_back[first].fetch_add(1);
  __sync_synchronize();  // before anything else is written there
  std::size_t end = first;
  while (end < kGranules && block_[end] == first + 1) block_[end++] = 0;
  if ((kept_granules_ + end - first) * kGranuleBytes > kKeptAreaBytes)
    forget(first, end - first);
  else
    kept_granules_ += end - first;
}

std::optional<PayloadReference> PayloadArea::refer_to(std::span<const std::byte> payload) const {
  // Of pointers into different objects std::less is defined, < is not.
  const std::less<const std::byte*> before;
  if (before(payload.data(), bytes_.data()) || !before(payload.data(), bytes_.data() + bytes_.size())) return {};
  const auto at = static_cast<std::size_t>(payload.data() - bytes_.data());
  const std::uint16_t block = block_[at / kGranuleBytes];
  if (block == 0) return {};
  const std::uint32_t granule = block - 1u;
  return PayloadReference{at, static_cast<std::uint32_t>(payload.size()), granule,
                          control_->given_back[granule].load(std::memory_order_relaxed)};
}

bool read_payload(const PayloadAreaControl& control, std::span<const std::byte> area, const PayloadReference& reference,
                  std::byte* to) {
  const bool inside =
      reference.granule < kGranules && reference.at <= area.size() && reference.bytes <= area.size() - reference.at;
  if (!inside || control.given_back[reference.granule].load() != reference.given_back) return false;
  std::memcpy(to, area.data() + reference.at, reference.bytes);
  __sync_synchronize();
  return control.given_back[reference.granule].load() == reference.given_back;
}

}  // namespace fibocast
