#include "transport/payload_area.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

namespace fibocast {
namespace {

constexpr std::size_t kControlBytes = (sizeof(PayloadAreaControl) + 4095) / 4096 * 4096;
constexpr std::size_t kFileBytes = kControlBytes + kAreaBytes;

// A file with an area, as its owner and a peer map it.
class File {
 public:
  File() : file_(memfd_create("area", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    EXPECT_EQ(ftruncate(file_, kFileBytes), 0);
    owner_ = map(), peer_ = map();
    area = std::make_unique<PayloadArea>(file_, kControlBytes, *new (owner_) PayloadAreaControl{}, bytes(owner_));
  }
  ~File() {
    munmap(owner_, kFileBytes), munmap(peer_, kFileBytes);
    close(file_);
  }
  // From now on there is no memory beyond so many bytes of the area.
  void end_at(std::size_t area_bytes) {
    EXPECT_EQ(ftruncate(file_, static_cast<off_t>(kControlBytes + area_bytes)), 0);
    EXPECT_EQ(fcntl(file_, F_ADD_SEALS, F_SEAL_GROW), 0);
  }
  std::size_t memory() const {
    struct stat status {};
    EXPECT_EQ(fstat(file_, &status), 0);
    return static_cast<std::size_t>(status.st_blocks) * 512;
  }
  // The peer's side.
  bool read(const PayloadReference& reference, std::span<std::byte> to) const {
    return to.size() >= reference.bytes &&
           read_payload(*static_cast<PayloadAreaControl*>(peer_), bytes(peer_), reference, to.data());
  }
  std::unique_ptr<PayloadArea> area;

 private:
  void* map() const { return mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0); }
  static std::span<std::byte> bytes(void* at) { return {static_cast<std::byte*>(at) + kControlBytes, kAreaBytes}; }
  int file_;
  void *owner_, *peer_;
};

TEST(PayloadArea, BlocksDoNotOverlapAndAreUsedAgain) {
  File file;
  const auto a = file.area->take(20'000), b = file.area->take(1);
  ASSERT_EQ(a.size(), 20'000u);
  ASSERT_EQ(b.size(), 1u);
  EXPECT_GE(b.data(), a.data() + a.size());
  file.area->give_back(a.data());
  EXPECT_EQ(file.area->take(30'000).data(), a.data());
  EXPECT_TRUE(file.area->take(0).empty());
}

TEST(PayloadArea, AllOfItCanBeTakenButNoMore) {
  File file;
  EXPECT_TRUE(file.area->take(kAreaBytes + 1).empty());
  const auto half = file.area->take(kAreaBytes / 2);
  ASSERT_FALSE(half.empty());
  EXPECT_TRUE(file.area->take(kAreaBytes / 2 + 1).empty());
  EXPECT_FALSE(file.area->take(kAreaBytes / 2).empty());
  EXPECT_TRUE(file.area->take(1).empty());
  file.area->give_back(half.data());
  EXPECT_FALSE(file.area->take(1).empty());
}

TEST(PayloadArea, APayloadIsReadUntilItIsTakenBack) {
  File file;
  const auto block = file.area->take(50'000);
  std::ranges::fill(block, std::byte{7});
  const auto reference = file.area->refer_to(block.subspan(20'000, 100));
  ASSERT_TRUE(reference);
  std::vector<std::byte> got(100);
  ASSERT_TRUE(file.read(*reference, got));
  EXPECT_EQ(got, std::vector<std::byte>(100, std::byte{7}));
  file.area->give_back(block.data());
  EXPECT_FALSE(file.read(*reference, got));
  const auto next = file.area->take(50'000);
  EXPECT_FALSE(file.read(*reference, got));
  EXPECT_TRUE(file.read(*file.area->refer_to(next.first(1)), got));
}

TEST(PayloadArea, OtherMemoryIsNotReferredTo) {
  File file;
  const std::vector<std::byte> elsewhere(100);
  EXPECT_FALSE(file.area->refer_to(elsewhere));
  const auto block = file.area->take(100);
  file.area->give_back(block.data());
  EXPECT_FALSE(file.area->refer_to(block));
}

TEST(PayloadArea, AReferenceThatMakesNoSenseIsNotRead) {
  File file;
  const auto reference = *file.area->refer_to(file.area->take(100));
  std::vector<std::byte> got(1000);
  EXPECT_TRUE(file.read(reference, got));
  for (int field = 0; field < 4; ++field) {
    PayloadReference wrong = reference;
    if (field == 0) wrong.at = kAreaBytes - 99;
    if (field == 1) wrong.at = ~0ull;
    if (field == 2) wrong.granule = kGranules;
    if (field == 3) wrong.given_back = 1;
    EXPECT_FALSE(file.read(wrong, got)) << field;
  }
}

TEST(PayloadArea, MemoryThatIsNotUsedGoesBack) {
  File file;
  std::vector<std::span<std::byte>> blocks;
  for (int i = 0; i < 30; ++i) blocks.push_back(file.area->take(1 << 20));
  EXPECT_GE(file.memory(), std::size_t{30} << 20);
  for (const auto& block : blocks) file.area->give_back(block.data());
  EXPECT_LE(file.memory(), kControlBytes + kKeptAreaBytes);
  for (int i = 0; i < 30; ++i) std::ranges::fill(file.area->take(1 << 20), std::byte{7});
  EXPECT_GE(file.memory(), std::size_t{30} << 20);
}

TEST(PayloadArea, WithoutMemoryThereIsNoBlock) {
  File file;
  file.end_at(1 << 20);
  EXPECT_TRUE(file.area->take(2 << 20).empty());
  const auto block = file.area->take(1 << 20);
  ASSERT_FALSE(block.empty());
  std::ranges::fill(block, std::byte{7});
}

// Its owner gives a block back and writes something else there while a late peer reads: that one never takes a mixture
// for what it was sent.
TEST(PayloadArea, WhatIsOverwrittenMeanwhileIsNotTaken) {
  constexpr std::size_t kBytes = 30'000;
  File file;
  std::mutex mutex;
  PayloadReference sent;
  std::byte content{};
  std::atomic<bool> over = false;
  std::thread owner([&] {
    for (int i = 1; i < (FIBOCAST_SANITIZED ? 4'000 : 20'000); ++i) {
      const auto block = file.area->take(kBytes);
      std::ranges::fill(block, static_cast<std::byte>(i));
      {
        const std::lock_guard lock(mutex);
        sent = *file.area->refer_to(block), content = static_cast<std::byte>(i);
      }
      file.area->give_back(block.data());
    }
    over = true;
  });
  std::vector<std::byte> got(kBytes);
  std::size_t mixed = 0;
  while (!over) {
    PayloadReference reference;
    std::byte expected{};
    {
      const std::lock_guard lock(mutex);
      reference = sent, expected = content;
    }
    if (reference.bytes == 0 || !file.read(reference, got)) continue;
    mixed += static_cast<std::size_t>(std::ranges::count(got, expected)) != kBytes;
  }
  owner.join();
  EXPECT_EQ(mixed, 0u);
}

}  // namespace
}  // namespace fibocast
