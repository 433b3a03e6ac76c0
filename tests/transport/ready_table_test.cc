#include "transport/ready_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace fibocast {
namespace {

constexpr std::uint32_t kEntries = 130;  // more than two words

class ReadyTableTest : public testing::Test {
 protected:
  std::vector<std::uint32_t> ready() const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = table.next_ready(0); i != kNone; i = table.next_ready(i + 1)) found.push_back(i);
    return found;
  }
  void raise(std::uint32_t index) { table.flag(index).raise(); }
  void rest(std::uint32_t index, Nanoseconds end) {
    table.flag(index);  // in use from now on
    table.rest(index, end);
  }

  static constexpr std::uint32_t kNone = ReadyTable::kNone;
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(ReadyTable::words_for(kEntries));
  std::vector<Nanoseconds> until = std::vector<Nanoseconds>(kEntries);
  ReadyTable table{words, until};
};

using Indices = std::vector<std::uint32_t>;

TEST_F(ReadyTableTest, AllRestForEverAtFirst) {
  EXPECT_EQ(ready(), Indices{});
  EXPECT_EQ(table.earliest(), kNoDeadline);
  table.wake(kNoDeadline - 1);
  EXPECT_EQ(ready(), Indices{});
}

TEST_F(ReadyTableTest, WhoIsReadyIsFoundInOrderUntilItRests) {
  for (const std::uint32_t i : {129u, 0u, 64u, 63u}) raise(i);
  EXPECT_EQ(ready(), (Indices{0, 63, 64, 129}));
  EXPECT_EQ(table.next_ready(65), 129u);
  EXPECT_EQ(table.next_ready(kEntries), kNone);
  table.rest(63, kNoDeadline);
  table.rest(129, 500);
  EXPECT_EQ(ready(), (Indices{0, 64}));
  EXPECT_EQ(table.next_ready(65), kNone);
}

TEST_F(ReadyTableTest, LooksAtNoMoreThanIsInUse) {
  raise(3);
  words[1] = 1;  // the ready ones from 64 on
  EXPECT_EQ(ready(), Indices{3});
  table.flag(64);
  EXPECT_EQ(ready(), (Indices{3, 64}));
}

TEST_F(ReadyTableTest, WhoRestsUntilATimeIsReadyThen) {
  rest(3, 500);
  rest(70, 400);
  EXPECT_EQ(table.earliest(), 400);
  table.wake(399);
  EXPECT_EQ(ready(), Indices{});
  table.wake(400);
  EXPECT_EQ(ready(), Indices{70});
  EXPECT_EQ(table.earliest(), 500) << "70 does not rest any more";
}

// What is cached is what one finds by looking at all.
TEST_F(ReadyTableTest, DoesWhatATableDoesThatLooksAtAll) {
  struct Plain {
    bool ready = false;
    Nanoseconds until = kNoDeadline;
  };
  std::vector<Plain> plain(kEntries);
  std::mt19937 random(7);
  for (Nanoseconds now = 0; now < 20'000; ++now) {
    const auto i = static_cast<std::uint32_t>(random() % kEntries);
    if (random() % 2 == 0) {
      raise(i), plain[i].ready = true;
    } else {
      const Nanoseconds end = random() % 4 == 0 ? kNoDeadline : now + random() % 300;
      rest(i, end), plain[i] = {false, end};
    }
    if (random() % 8 == 0) {
      table.wake(now);
      for (Plain& p : plain) p.ready = p.ready || p.until <= now;
    }
    Nanoseconds earliest = kNoDeadline;
    Indices found;
    for (std::uint32_t k = 0; k < kEntries; ++k)
      if (plain[k].ready)
        found.push_back(k);
      else
        earliest = std::min(earliest, plain[k].until);
    ASSERT_EQ(table.earliest(), earliest) << now;
    ASSERT_EQ(ready(), found) << now;
  }
}

}  // namespace
}  // namespace fibocast
