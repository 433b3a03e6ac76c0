#include "runtime/daemon/payload_memory.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

TEST(PayloadMemory, TakenAtFirstUseAndKept) {
  PayloadMemory memory(4);
  EXPECT_EQ(memory.in_use(), 0u);
  const auto bytes = memory.at(2, 1000);
  EXPECT_EQ(bytes.size(), 1000u);
  EXPECT_EQ(memory.at(2, 1000).data(), bytes.data());
  EXPECT_EQ(memory.in_use(), 1u);
  memory.release(2);
  memory.release(3);
  EXPECT_EQ(memory.in_use(), 0u);
}

TEST(PayloadMemory, SmallBlocksAreUsedAgain) {
  PayloadMemory memory(4);
  const auto* first = memory.at(0, 700).data();
  memory.release(0);
  EXPECT_EQ(memory.at(1, 1024).data(), first);  // the same class, 1 KiB
  EXPECT_NE(memory.at(2, 1024).data(), first);
}

// Else the kernel would have to clear its pages anew for each payload.
TEST(PayloadMemory, SoIsOneOfAMebibyte) {
  PayloadMemory memory(4);
  const auto* first = memory.at(0, 1 << 20).data();
  memory.at(1, 1 << 20);
  memory.release(0);
  memory.release(1);  // one is kept
  EXPECT_EQ(memory.at(2, 600'000).data(), first);
}

TEST(PayloadMemory, EverySizeIsWhole) {
  PayloadMemory memory(1);
  for (const std::uint64_t size : {1ull, 256ull, 257ull, 65'536ull, 65'537ull, 3'000'000ull}) {
    const auto bytes = memory.at(0, size);
    std::fill(bytes.begin(), bytes.end(), std::byte{7});
    EXPECT_EQ(bytes.size(), size);
    memory.release(0);
  }
}

}  // namespace
}  // namespace fibocast
