#include "transport/shared_ring.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <random>

namespace fibocast {
namespace {

constexpr std::size_t kRingBytes = 16 << 10;
constexpr std::size_t kLargest = shared_ring::largest_frame(kRingBytes);

// The ring, as two processes see it that were forked.
class Ring {
 public:
  Ring() : at_(mmap(nullptr, kRingBytes + 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    new (at_) RingControl{};
  }
  ~Ring() { munmap(at_, kRingBytes + 4096); }
  RingControl& control() { return *static_cast<RingControl*>(at_); }
  std::span<std::byte> bytes() { return {static_cast<std::byte*>(at_) + 4096, kRingBytes}; }

 private:
  void* at_;
};

// A frame whose bytes follow from its number: number, then as many bytes as follow from it.
std::vector<std::byte> frame(std::uint32_t number) {
  std::mt19937 random(number);
  std::vector<std::byte> bytes(4 + random() % (kLargest - 4));
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}
std::uint32_t number_of(std::span<const std::byte> bytes) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}
bool push(shared_ring::Writer& writer, std::span<const std::byte> bytes) {
  const std::size_t head = bytes.size() / 3;
  return writer.push(bytes.first(head), bytes.subspan(head));
}

TEST(SharedRing, GivesWhatWasPutInInItsOrderAlsoAroundTheEnd) {
  Ring ring;
  shared_ring::Writer writer(ring.control(), ring.bytes());
  shared_ring::Reader reader(ring.control(), ring.bytes());
  std::mt19937 random(1);
  std::uint32_t put = 0, got = 0;
  std::uint64_t damaged = 0;
  while (got < 4000) {
    for (std::uint32_t i = random() % 8; i > 0 && push(writer, frame(put)); --i) ++put;
    for (std::uint32_t i = random() % 8; i > 0; --i) {
      const auto front = reader.front(damaged);
      if (!front) break;
      const auto expected = frame(got);
      ASSERT_TRUE(std::ranges::equal(*front, expected)) << got;
      reader.pop();
      ++got;
    }
  }
  EXPECT_EQ(damaged, 0u);
}

TEST(SharedRing, TheLargestFrameFitsWheneverThereIsRoom) {
  Ring ring;
  shared_ring::Writer writer(ring.control(), ring.bytes());
  shared_ring::Reader reader(ring.control(), ring.bytes());
  const std::vector<std::byte> small(17), largest(kLargest);
  std::uint64_t damaged = 0;
  for (int i = 0; i < 5000; ++i) {
    if (writer.has_room()) {
      ASSERT_TRUE(push(writer, largest)) << i;
    }
    while (i % 3 != 0 && writer.has_room()) ASSERT_TRUE(push(writer, small));
    for (int n = 0; n < 1 + i % 7 && reader.front(damaged); ++n) reader.pop();
  }
}

TEST(SharedRing, AWriterThatWaitsIsToldOnceThereIsRoom) {
  Ring ring;
  shared_ring::Writer writer(ring.control(), ring.bytes());
  shared_ring::Reader reader(ring.control(), ring.bytes());
  const std::vector<std::byte> bytes(1000);
  while (push(writer, bytes)) continue;
  EXPECT_FALSE(writer.has_room());
  ring.control().writer_waits.store(1);
  std::uint64_t damaged = 0;
  int told = 0;
  while (reader.front(damaged)) {
    const bool tells = reader.pop();
    told += tells;
    if (tells) {
      EXPECT_TRUE(writer.has_room());
    }
  }
  EXPECT_EQ(told, 1);
}

TEST(SharedRing, AnEmptyRingStaysInItsFirstPage) {
  Ring ring;
  shared_ring::Writer writer(ring.control(), ring.bytes());
  shared_ring::Reader reader(ring.control(), ring.bytes());
  const std::vector<std::byte> bytes(100, std::byte{1});
  std::uint64_t damaged = 0;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(push(writer, bytes));
    ASSERT_TRUE(reader.front(damaged));
    reader.pop();
  }
  for (std::size_t i = 4096; i < kRingBytes; ++i) ASSERT_EQ(ring.bytes()[i], std::byte{0}) << i;
}

// What the other process left in the memory may be anything.
TEST(SharedRing, WhateverStandsInTheMemoryNobodyReadsOrWritesBeyondIt) {
  Ring ring;
  shared_ring::Writer writer(ring.control(), ring.bytes());
  shared_ring::Reader reader(ring.control(), ring.bytes());
  std::mt19937_64 random(7);
  std::uint64_t damaged = 0;
  const std::vector<std::byte> bytes(777);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t any[] = {random(), random() % 65536, random() % kRingBytes / 8 * 8, 0, ~0ull, kRingBytes};
    ring.control().written.store(any[random() % 6]);
    ring.control().read.store(any[random() % 6]);
    std::memcpy(ring.bytes().data() + random() % (kRingBytes / 8) * 8, &any[random() % 6], 8);
    push(writer, bytes);
    for (int n = 0; n < 40; ++n) {
      const auto front = reader.front(damaged);
      if (!front) break;
      ASSERT_LE(front->size(), kLargest);
      ASSERT_GE(front->data(), ring.bytes().data());
      ASSERT_LE(front->data() + front->size(), ring.bytes().data() + kRingBytes);
      reader.pop();
    }
  }
  EXPECT_GT(damaged, 1000u);
}

// Kills writers anywhere, 300 of them (with sanitizers 60): there are whole frames only, and the next writer goes on
// after them.
TEST(SharedRing, AWriterThatIsKilledLeavesWholeFramesOnly) {
  Ring ring;
  shared_ring::Reader reader(ring.control(), ring.bytes());
  std::mt19937 random(3);
  std::uint64_t damaged = 0;
  std::uint32_t got = 0;
  for (int i = 0; i < (FIBOCAST_SANITIZED ? 60 : 300); ++i) {
    const pid_t writing = fork();
    if (writing == 0) {
      shared_ring::Writer writer(ring.control(), ring.bytes());
      for (std::uint32_t n = 0;; ++n)
        while (!push(writer, frame(n))) continue;
    }
    const std::uint32_t until = got + 1 + random() % 50;
    std::uint32_t last = 0;
    const auto take = [&] {
      const auto front = reader.front(damaged);
      if (!front) return false;
      last = number_of(*front);
      EXPECT_TRUE(std::ranges::equal(*front, frame(last)));
      reader.pop();
      return ++got, true;
    };
    while (got < until) take();
    kill(writing, SIGKILL);
    waitpid(writing, nullptr, 0);
    while (take()) continue;
  }
  EXPECT_EQ(damaged, 0u);
}

}  // namespace
}  // namespace fibocast
