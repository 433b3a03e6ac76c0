#include "transport/receive_window.h"

#include "transport/check.h"

namespace fibocast {

ReceiveWindow::Place ReceiveWindow::place(std::uint32_t sequence) const {
  const std::uint32_t ahead = sequence - expected_;
  if (ahead == 0) return Place::kNext;
  if (static_cast<std::int32_t>(ahead) < 0) return Place::kDuplicate;
  if (ahead >= window_) return Place::kBeyond;
  const bool arrived = (bits_[(ahead - 1) / 64] >> ((ahead - 1) % 64) & 1) != 0;
  return arrived ? Place::kDuplicate : Place::kAhead;
}

void ReceiveWindow::mark(std::uint32_t sequence) {
  const std::uint32_t ahead = sequence - expected_;
  check_channel(ahead < window_);
  if (ahead > 0) {
    bits_[(ahead - 1) / 64] |= std::uint64_t{1} << ((ahead - 1) % 64);
    return;
  }
  do {
    ++expected_;
  } while (shift());
}

// Removes bit 0, which is that of the sequence now expected, and returns it.
bool ReceiveWindow::shift() {
  const bool first = (bits_[0] & 1) != 0;
  for (std::size_t i = 0; i < bits_.size(); ++i) {
    bits_[i] = bits_[i] >> 1 | (i + 1 < bits_.size() ? bits_[i + 1] << 63 : 0);
  }
  return first;
}

}  // namespace fibocast
