// What opening a group lays out is what its first operations use: they touch no memory that the system would have to
// find for them.
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
    for (std::size_t at = 0; at < size_; at += kPage)
      touched += !std::ranges::all_of(memory().subspan(at, kPage), [](std::byte b) { return b == kUntouched; });
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

TEST(OpeningAGroup, LaysOutWhatItsFirstBarriersUse) {
  std::vector<std::unique_ptr<NodeInPages>> nodes;
  for (NodeId self : {0u, 1u}) nodes.push_back(std::make_unique<NodeInPages>(self));
  const auto exchange = [&] {
    for (bool any = true; any;) {
      any = nodes[0]->send_to(*nodes[1]);
      any = nodes[1]->send_to(*nodes[0]) || any;
    }
  };
  exchange();
  for (const auto& node : nodes) node->open();
  const std::size_t before = nodes[0]->pages_touched();
  const int barriers = static_cast<int>(limits_of_two_nodes().open_generations);
  for (int i = 0; i < barriers; ++i) {
    for (const auto& node : nodes) node->call_barrier();
    exchange();
  }
  EXPECT_EQ(nodes[0]->barriers_done(), barriers);
  EXPECT_LE(nodes[0]->pages_touched() - before, 4u) << "of the calls and the flight recorder; of " << before;
}

}  // namespace
}  // namespace fibocast
