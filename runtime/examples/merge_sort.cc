// Merge sort on all nodes: `divide` gives each its share of the numbers (half of what is left, from phase to phase),
// each sorts its own, `conquer` brings the sorted runs back along the same edges, and the root merges them.
//
//   fibocast up -n 8; fibocast run -- build/release/bin/examples/merge_sort [COUNT [SEED]]
#include <algorithm>
#include <random>
#include <vector>

#include "runtime/examples/example.h"

namespace {

using namespace fibocast;
using example::check;
using example::checked;
using example::kDeadline;

using Numbers = std::vector<std::int64_t>;

constexpr Rank kRoot = 0;

Numbers random_numbers(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 source(seed);
  Numbers numbers(count);
  for (std::int64_t& number : numbers) number = static_cast<std::int64_t>(source() % count);  // some come twice
  return numbers;
}

// Merges neighbours until one run is left.
void merge(Numbers& numbers, std::vector<Share> runs) {
  const auto at = [&](std::uint64_t place) { return numbers.begin() + static_cast<std::ptrdiff_t>(place); };
  std::sort(runs.begin(), runs.end(), [](const Share& a, const Share& b) { return a.first < b.first; });
  while (runs.size() > 1) {
    std::vector<Share> merged;
    for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
      std::inplace_merge(at(runs[i].first), at(runs[i + 1].first), at(runs[i + 1].end()));
      merged.push_back({runs[i].first, runs[i].count + runs[i + 1].count});
    }
    if (runs.size() % 2 == 1) merged.push_back(runs.back());
    runs = std::move(merged);
  }
}

void verify(Numbers given, const Numbers& sorted, Rank ranks) {
  const bool ascends = std::is_sorted(sorted.begin(), sorted.end());
  std::sort(given.begin(), given.end());
  const bool same = given == sorted;
  std::cout << sorted.size() << " numbers on " << ranks << " ranks: " << (ascends ? "ascending" : "NOT ASCENDING")
            << ", " << (same ? "the same numbers" : "NOT THE SAME NUMBERS") << '\n';
  if (!ascends || !same) throw std::runtime_error("the result is wrong");
}

void sort_together(Group& group, std::size_t count, std::uint64_t seed) {
  const bool is_root = group.rank() == kRoot;
  const Numbers given = is_root ? random_numbers(count, seed) : Numbers();
  Numbers mine = checked(group.divide(kRoot, std::as_bytes(std::span(given)), ElementType::kInt64, kDeadline))
                     .values<std::int64_t>();
  std::sort(mine.begin(), mine.end());
  auto share = group.share(kRoot, count);
  check(share.status());
  // Shares of one half do not overlap: no operator is needed.
  Numbers runs =
      checked(group.conquer(kRoot, count, std::as_bytes(std::span(mine)), {ElementType::kInt64, {}}, kDeadline))
          .values<std::int64_t>();
  const auto shares = checked(group.gather(kRoot, std::as_bytes(std::span(&*share, 1)), kDeadline)).values<Share>();
  if (!is_root) return;
  merge(runs, shares);
  verify(given, runs, group.size());
}

}  // namespace

int main(int argc, char** argv) {
  return example::run("merge_sort", [&](Client&, Group& group) {
    const long long count = argc > 1 ? std::atoll(argv[1]) : 1 << 20;
    if (count < 1 || count > 4'000'000) throw std::runtime_error("COUNT is a number from 1 to 4000000");
    sort_together(group, static_cast<std::size_t>(count), argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  });
}
