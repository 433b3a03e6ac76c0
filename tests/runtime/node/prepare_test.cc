// What opening a group lays out is what its first operations use, and what a node says it writes at once and at work is
// what it writes: they touch no memory that the system would have to find for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "runtime/node/node.h"

namespace fibocast {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::byte kUntouched{0xa5};
constexpr Nanoseconds kNow = 1'000'000'000;

// As large for each operation as a server's.
Limits limits_of_two_nodes() {
  Limits limits = Limits::server();
  limits.nodes = 2, limits.groups = 2, limits.buffers = 64;
  return limits;
}

struct Free {
  void operator()(std::byte* at) const { std::free(at); }
};

// One of two nodes, in pages of which it shows which were written.
class NodeInPages {
 public:
  explicit NodeInPages(NodeId self)
      : bytes_(static_cast<std::byte*>(std::aligned_alloc(kPage, size_))), node_(limits_, settings_of(self), fresh()) {
    node_.start(kNow);
  }
  std::size_t pages_touched() const {
    std::size_t touched = 0;
    for (std::size_t at = 0; at < size_; at += kPage) touched += is_touched(at);
    return touched;
  }
  std::size_t pages_touched_besides_work() const {
    std::size_t touched = 0;
    for (std::size_t at = 0; at < size_; at += kPage) touched += is_touched(at) && !is_of_work(at);
    return touched;
  }
  // Those of now reach the other one. False: there was none.
  bool send_to(NodeInPages& other) {
    bool any = false;
    for (Event event; node_.poll_event(event);) done_ += event.kind == Event::Kind::kCallDone;
    for (Transmit out; node_.poll_transmit(kNow, scratch_, out); any = true) other.node_.on_datagram(out.head, kNow);
    return any;
  }
  void open() { ASSERT_EQ(node_.open_group("all", 0, call_.group, next_), Admission::kTaken); }
  void call_barrier() {
    call_.generation = next_++, call_.deadline = kNow + 1'000'000'000;
    ASSERT_EQ(node_.call(call_, kNow), Admission::kTaken);
  }
  int barriers_done() const { return done_; }

 private:
  static NodeSettings settings_of(NodeId self) {
    NodeSettings settings;
    settings.self = self, settings.nodes = 2, settings.incarnation = 256 * (1 + self);
    return settings;
  }
  bool is_touched(std::size_t at) const {
    return !std::ranges::all_of(memory().subspan(at, kPage), [](std::byte b) { return b == kUntouched; });
  }
  bool is_of_work(std::size_t at) const {
    const std::byte* page = bytes_.get() + at;
    return std::ranges::any_of(node_.memory_of_work(), [page](std::span<std::byte> part) {
      return part.data() < page + kPage && page < part.data() + part.size();
    });
  }
  std::span<std::byte> memory() const { return {bytes_.get(), size_}; }
  std::span<std::byte> fresh() {
    std::ranges::fill(memory(), kUntouched);
    return memory();
  }

  const Limits limits_ = limits_of_two_nodes();
  const std::size_t size_ = (Node::bytes_needed(limits_) + kPage - 1) / kPage * kPage;
  std::unique_ptr<std::byte, Free> bytes_;
  Node node_;
  std::array<std::byte, kMaxHeadBytes> scratch_{};
  Call call_;
  Generation next_ = 0;
  int done_ = 0;
};

struct TwoNodes : testing::Test {
  TwoNodes() {
    exchange();
    first.open(), second.open();
  }
  void exchange() {
    for (bool any = true; any;) {
      any = first.send_to(second);
      any = second.send_to(first) || any;
    }
  }
  void barriers(int count) {
    for (int i = 0; i < count; ++i) {
      first.call_barrier(), second.call_barrier();
      exchange();
    }
    ASSERT_EQ(first.barriers_done(), done += count);
  }
  NodeInPages first{0}, second{1};
  int done = 0;
};

TEST_F(TwoNodes, OpeningAGroupLaysOutWhatItsFirstBarriersUse) {
  const std::size_t before = first.pages_touched();
  barriers(static_cast<int>(limits_of_two_nodes().open_generations));
  EXPECT_LE(first.pages_touched() - before, 4u) << "of the calls and the flight recorder; of " << before;
}

TEST_F(TwoNodes, AtWorkTheyWriteWhatTheySay) {
  const std::size_t before = first.pages_touched(), besides = first.pages_touched_besides_work();
  barriers(5000);
  EXPECT_GT(first.pages_touched() - before, 100u) << "of the flight recorder";
  EXPECT_LE(first.pages_touched_besides_work() - besides, 1u) << "of the calls; of " << besides;
}

TEST(NodeMemory, WhatIsWrittenAtOnceComesFirstAndTheChannelsLast) {
  const Limits limits = Limits::server();
  const std::size_t bytes = Node::bytes_needed(limits), at_once = Node::bytes_written_at_once(limits);
  std::vector<std::byte> memory(bytes, kUntouched);
  NodeSettings settings;
  settings.nodes = 2;
  const Node node(limits, settings, memory);
  std::size_t pages = 0, later = 0;
  for (std::size_t at = 0; at + kPage <= bytes; at += kPage) {
    const bool touched = std::any_of(memory.begin() + long(at), memory.begin() + long(at + kPage),
                                     [](std::byte b) { return b != kUntouched; });
    (at < at_once ? pages : later) += touched;
  }
  EXPECT_EQ(pages, (at_once + kPage - 1) / kPage);
  EXPECT_LE(later, 16u) << "single objects between the tables";
  const std::span<std::byte> channels = node.memory_of_work()[1];
  EXPECT_EQ(channels.data() + channels.size() / settings.nodes * limits.nodes, memory.data() + bytes)
      << "they are last";
}

}  // namespace
}  // namespace fibocast
