#include "runtime/daemon/payload_memory.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fibocast {
namespace {

// With memory for payloads, of one block at a time, or without.
class Memory final : public Transport {
 public:
  explicit Memory(std::size_t bytes = 0) : block(bytes) {}
  void start(Handlers) override {}
  bool send(NodeId, std::span<const std::byte>, std::span<const std::byte>) override { return true; }
  std::size_t max_frame(NodeId) const override { return 2000; }
  std::size_t receive_buffer_bytes(NodeId) const override { return 1 << 20; }
  void stop() override {}
  std::span<std::byte> take_payload_memory(std::size_t bytes) override {
    if (taken || bytes > block.size()) return {};
    taken = true;
    return std::span(block).first(bytes);
  }
  void give_back_payload_memory(const std::byte* begin) override {
    EXPECT_EQ(begin, block.data());
    taken = false;
  }
  std::vector<std::byte> block;
  bool taken = false;
};

TEST(PayloadMemory, LargeOnesAreTheTransportsWhileItHasRoom) {
  Memory transport(1 << 20);
  PayloadMemory memory(4, transport);
  EXPECT_NE(memory.at(0, 1000).data(), transport.block.data());
  EXPECT_EQ(memory.at(1, 100'000).data(), transport.block.data());
  EXPECT_EQ(memory.at(1, 100'000).data(), transport.block.data());
  const auto own = memory.at(2, 100'000);
  EXPECT_NE(own.data(), transport.block.data());
  std::fill(own.begin(), own.end(), std::byte{7});
  memory.release(2);
  EXPECT_TRUE(transport.taken);
  memory.release(1);
  EXPECT_FALSE(transport.taken);
  EXPECT_EQ(memory.at(3, 50'000).data(), transport.block.data());
}

TEST(PayloadMemory, LentMemoryIsItsOwnersAgain) {
  Memory transport(1 << 20);
  PayloadMemory memory(4, transport);
  std::vector<std::byte> place(20'000), other(20'000);
  memory.lend(1, place);
  EXPECT_EQ(memory.at(1, 20'000).data(), place.data());
  EXPECT_EQ(memory.in_use(), 1u);
  memory.take_back(1, other);
  EXPECT_EQ(memory.at(1, 20'000).data(), place.data()) << "it is not the other's";
  memory.take_back(1, place);
  EXPECT_EQ(memory.in_use(), 0u);
  EXPECT_EQ(memory.at(1, 20'000).data(), transport.block.data()) << "what comes late goes elsewhere";
  memory.take_back(1, place);
  memory.take_back(kNoBuffer, place);
  EXPECT_EQ(memory.in_use(), 1u);
  memory.lend(2, place);
  memory.release(2);
  EXPECT_TRUE(transport.taken);
  memory.release(1);
  EXPECT_FALSE(transport.taken);
}

bool all_are(std::span<const std::byte> bytes, int value) {
  return std::ranges::all_of(bytes, [value](std::byte b) { return b == std::byte(value); });
}

TEST(PayloadMemory, WhatIsCopiedLaterIsCopiedAsFarAsItIsAskedFor) {
  Memory transport(1 << 20);
  PayloadMemory memory(4, transport);
  std::vector<std::byte> source(100'000, std::byte{1});
  memory.copy_later(2, source);
  EXPECT_TRUE(all_are(memory.part(2, 100'000, 20'000, 20'000), 1));
  std::ranges::fill(source, std::byte{2});
  EXPECT_TRUE(all_are(memory.part(2, 100'000, 0, 40'000), 1)) << "it was copied already";
  EXPECT_TRUE(all_are(std::span(transport.block).subspan(40'000, 60'000), 0)) << "nobody has asked for it";
  EXPECT_TRUE(all_are(memory.part(2, 100'000, 30'000, 20'000).subspan(10'000), 2));
  memory.finish_copy(2, std::span(source).subspan(1));
  EXPECT_TRUE(all_are(std::span(transport.block).subspan(50'000, 50'000), 0)) << "the buffer has another source";
  memory.finish_copy(2, source);
  std::ranges::fill(source, std::byte{3});
  EXPECT_TRUE(all_are(memory.at(2, 100'000).subspan(40'000), 2)) << "since then the source is its owner's";
}

TEST(PayloadMemory, TheWholeBufferIsCopiedForWhoAsksForIt) {
  Memory transport(1 << 20);
  PayloadMemory memory(4, transport);
  std::vector<std::byte> source(10'000, std::byte{1});
  memory.copy_later(0, source);
  EXPECT_TRUE(all_are(memory.at(0, 10'000), 1));
  memory.at(0, 10'000)[10] = std::byte{9};
  memory.finish_copy(0, source);
  EXPECT_EQ(memory.at(0, 10'000)[10], std::byte{9}) << "and not again";
}

TEST(PayloadMemory, WhereTheTransportHasNoneTheSourceIsReadUntilItsOwnerWantsIt) {
  Memory transport;
  PayloadMemory memory(4, transport);
  std::vector<std::byte> source(50'000, std::byte{1});
  memory.copy_later(0, source);
  EXPECT_EQ(memory.at(0, 50'000).data(), source.data());
  EXPECT_EQ(memory.part(0, 50'000, 20'000, 10).data(), source.data() + 20'000);
  memory.finish_copy(0, std::span(source).subspan(1));
  EXPECT_EQ(memory.at(0, 50'000).data(), source.data()) << "the buffer has another source";
  memory.finish_copy(0, source);
  std::ranges::fill(source, std::byte{2});
  EXPECT_TRUE(all_are(memory.at(0, 50'000), 1)) << "who has not got it yet is sent what it was";
  memory.finish_copy(0, source);
  EXPECT_TRUE(all_are(memory.at(0, 50'000), 1)) << "once";
  memory.release(0);
  memory.copy_later(0, source);
  memory.release(0);
  memory.finish_copy(0, source);
  EXPECT_EQ(memory.in_use(), 0u);
  EXPECT_NE(memory.at(0, 50'000).data(), source.data()) << "the next one of this number is another";
}

TEST(PayloadMemory, ABufferThatIsGoneTakesNothingFromItsSource) {
  Memory transport(1 << 20);
  PayloadMemory memory(4, transport);
  std::vector<std::byte> source(20'000, std::byte{1});
  memory.copy_later(0, source);
  memory.release(0);
  memory.finish_copy(0, source);
  memory.finish_copy(kNoBuffer, source);
  EXPECT_EQ(memory.in_use(), 0u);
  EXPECT_TRUE(all_are(memory.at(0, 20'000), 0)) << "the next one of this number is another";
}

TEST(PayloadMemory, TakenAtFirstUseAndKept) {
  Memory transport;
  PayloadMemory memory(4, transport);
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
  Memory transport;
  PayloadMemory memory(4, transport);
  const auto* first = memory.at(0, 700).data();
  memory.release(0);
  EXPECT_EQ(memory.at(1, 1024).data(), first);  // the same class, 1 KiB
  EXPECT_NE(memory.at(2, 1024).data(), first);
}

// Else the kernel would have to clear its pages anew for each payload.
TEST(PayloadMemory, SoIsOneOfAMebibyte) {
  Memory transport;
  PayloadMemory memory(4, transport);
  const auto* first = memory.at(0, 1 << 20).data();
  memory.at(1, 1 << 20);
  memory.release(0);
  memory.release(1);  // one is kept
  EXPECT_EQ(memory.at(2, 600'000).data(), first);
}

TEST(PayloadMemory, EverySizeIsWhole) {
  Memory transport;
  PayloadMemory memory(1, transport);
  for (const std::uint64_t size : {1ull, 256ull, 257ull, 65'536ull, 65'537ull, 3'000'000ull}) {
    const auto bytes = memory.at(0, size);
    std::fill(bytes.begin(), bytes.end(), std::byte{7});
    EXPECT_EQ(bytes.size(), size);
    memory.release(0);
  }
}

}  // namespace
}  // namespace fibocast
