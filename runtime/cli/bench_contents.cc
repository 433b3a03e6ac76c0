#include "runtime/cli/bench_contents.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <random>
#include <string>

namespace fibocast {
namespace {

constexpr std::uint64_t kMostValue = 1023;  // a float holds the sum of 16,000 of them

std::mt19937_64 dice(std::uint64_t seed, std::uint64_t repetition) {
  std::seed_seq both{seed, seed >> 32, repetition};
  return std::mt19937_64(both);
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

template <class T>
VectorContents numbers(std::mt19937_64 random, std::uint64_t elements, Rank ranks) {
  VectorContents contents;
  std::vector<T> values(elements), sum(elements);
  for (Rank rank = 0; rank < ranks; ++rank) {
    for (std::uint64_t i = 0; i < elements; ++i) {
      values[i] = static_cast<T>(random() & kMostValue);
      sum[i] += values[i];
    }
    contents.vectors.push_back(bytes_of(values));
  }
  contents.sum = bytes_of(sum);
  return contents;
}

}  // namespace

std::vector<std::byte> message_contents(std::uint64_t seed, std::uint64_t repetition, std::uint64_t bytes) {
  std::mt19937_64 random = dice(seed, repetition);
  std::vector<std::byte> contents(bytes);
  for (std::size_t at = 0; at < contents.size();) {
    const std::uint64_t word = random();
    const std::size_t piece = std::min(sizeof word, contents.size() - at);
    std::memcpy(contents.data() + at, &word, piece);
    at += piece;
  }
  return contents;
}

VectorContents vector_contents(std::uint64_t seed, std::uint64_t repetition, ElementType type, std::uint64_t elements,
                               Rank ranks) {
  const std::mt19937_64 random = dice(seed, repetition);
  switch (type) {
    case ElementType::kInt32: return numbers<std::int32_t>(random, elements, ranks);
    case ElementType::kInt64: return numbers<std::int64_t>(random, elements, ranks);
    case ElementType::kUint64: return numbers<std::uint64_t>(random, elements, ranks);
    case ElementType::kFloat: return numbers<float>(random, elements, ranks);
    case ElementType::kDouble: return numbers<double>(random, elements, ranks);
    case ElementType::kBytes: break;
  }
  assert(false);
  return {};
}

Status compare_contents(Rank rank, std::span<const std::byte> came, std::span<const std::byte> expected) {
  const auto at = std::mismatch(came.begin(), came.end(), expected.begin(), expected.end());
  if (at.first == came.end() && at.second == expected.end()) return {};
  const std::string wrong = came.size() == expected.size()
                                ? "wrong contents from byte " + std::to_string(at.first - came.begin()) + " on"
                                : std::to_string(came.size()) + " bytes instead of " + std::to_string(expected.size());
  return {Code::kFailed, "rank " + std::to_string(rank) + " got " + wrong, {rank}};
}

}  // namespace fibocast
