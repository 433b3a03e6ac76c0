// Durations in buckets of 1, 1.5, 2, 3, 4, 6, 8, .. microseconds up to a minute: two for each power of two, so that a
// quantile is off by a fifth at most, and adding one costs a few instructions.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "collectives/types.h"

namespace fibocast {

class LatencyHistogram {
 public:
  static constexpr std::size_t kBuckets = 54;  // the last one has no upper bound

  void add(Nanoseconds duration) {
    const Nanoseconds ns = std::max<Nanoseconds>(duration, 0);
    ++counts_[bucket_of(ns)];
    ++count_;
    sum_ += ns;
  }
  std::uint64_t count() const { return count_; }
  Nanoseconds sum() const { return sum_; }
  std::uint64_t in_bucket(std::size_t bucket) const { return counts_[bucket]; }
  // Durations up to this are in the bucket or before. Precondition: bucket < kBuckets - 1.
  static constexpr Nanoseconds upper_bound(std::size_t bucket) {
    if (bucket == 0) return kMicrosecond;
    const Nanoseconds octave = kMicrosecond << ((bucket - 1) / 2);
    return (bucket - 1) % 2 == 0 ? octave + octave / 2 : 2 * octave;
  }
  static constexpr std::size_t bucket_of(Nanoseconds ns) {
    if (ns <= kMicrosecond) return 0;
    const auto octave =
        static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>((ns - 1) / kMicrosecond))) - 1;
    const std::size_t bucket = 1 + 2 * octave;
    return bucket >= kBuckets - 1 ? kBuckets - 1 : bucket + (ns > upper_bound(bucket) ? 1 : 0);
  }
  // Between the bounds of its bucket as if durations were spread evenly in it; 0 if there are none. 0 <= q <= 1.
  Nanoseconds quantile(double q) const {
    const double wanted = q * static_cast<double>(count_);
    double before = 0;
    for (std::size_t i = 0; i < kBuckets && count_ > 0; ++i) {
      const auto here = static_cast<double>(counts_[i]);
      if (here > 0 && before + here >= wanted) return within(i, std::clamp((wanted - before) / here, 0.0, 1.0));
      before += here;
    }
    return 0;
  }

 private:
  static Nanoseconds within(std::size_t bucket, double part) {
    const Nanoseconds low = bucket == 0 ? 0 : upper_bound(bucket - 1);
    if (bucket == kBuckets - 1) return low;
    return low + static_cast<Nanoseconds>(part * static_cast<double>(upper_bound(bucket) - low));
  }

  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t count_ = 0;
  Nanoseconds sum_ = 0;
};

}  // namespace fibocast
