#include "runtime/daemon/node_host.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <boost/asio/post.hpp>

#include "transport/loopback_transport.h"
#include "transport/monotonic_now.h"

namespace fibocast {
namespace {

NodeSettings alone() {
  NodeSettings settings;
  settings.nodes = 1;
  return settings;
}

// The handler of its alarm lies in the host.
void end(NodeHost& host, boost::asio::io_context& io) {
  host.stop();
  io.poll();
  io.restart();
  io.poll();
}

// What has come after a wait is for the next one: who looks in between takes it from where its place will be known.
TEST(NodeHost, WhoHasWaitedNeedNotCatchUp) {
  boost::asio::io_context io;
  LoopbackHub hub(io);
  LoopbackTransport transport(hub, 0);
  NodeHost host(io, transport, Limits::simulated(), alone(), WaitPolicy::kPoll, {});
  host.start();
  int came = 0;
  const auto come = [&] { boost::asio::post(io, [&] { ++came; }); };
  come();
  host.catch_up();
  EXPECT_EQ(came, 1) << "nobody has waited";
  come();
  host.run_while([&] { return came < 2; });
  come();
  host.catch_up();
  EXPECT_EQ(came, 2);
  host.catch_up();
  EXPECT_EQ(came, 3) << "nobody has waited since";
  end(host, io);
}

// Its second look finds a frame, which comes while it is looked for.
class LateFrame : public Transport {
 public:
  void start(Handlers handlers) override { handlers_ = std::move(handlers); }
  bool send(NodeId, std::span<const std::byte>, std::span<const std::byte>) override { return true; }
  std::size_t max_frame(NodeId) const override { return 1400; }
  std::size_t receive_buffer_bytes(NodeId) const override { return 1 << 20; }
  void stop() override {}
  bool poll_memory() override {
    if (++looks_ != 2) return false;
    for (const Nanoseconds began = monotonic_now(); came_at_ <= began;) came_at_ = monotonic_now();
    handlers_.on_frame(std::as_bytes(std::span("none")));
    return true;
  }
  bool has_come() const { return looks_ >= 2; }
  Nanoseconds came_at() const { return came_at_; }

 private:
  Handlers handlers_;
  int looks_ = 0;
  Nanoseconds came_at_ = 0;
};

// A frame that is taken for one that came sooner makes the machine faster than it is.
TEST(NodeHost, NoFrameComesTooEarlyToAnEmulatedMachine) {
  boost::asio::io_context io;
  LateFrame transport;
  NodeSettings settings = alone();
  settings.nic.enabled = true;
  NodeHost host(io, transport, Limits::simulated(), settings, WaitPolicy::kPoll, {});
  host.start();
  Nanoseconds taken_at = 0;
  host.run_while([&] {
    if (transport.has_come() && taken_at == 0) taken_at = host.now();
    return !transport.has_come();
  });
  EXPECT_GE(taken_at, transport.came_at());
  end(host, io);
}

// Whether the system has given a page for each byte.
bool is_resident(std::span<std::byte> bytes) {
  constexpr std::size_t kPage = 4096;
  const std::size_t at = reinterpret_cast<std::uintptr_t>(bytes.data()) % kPage, all = bytes.size() + at;
  std::vector<unsigned char> pages((all + kPage - 1) / kPage);
  EXPECT_EQ(mincore(bytes.data() - at, all, pages.data()), 0);
  return std::ranges::all_of(pages, [](unsigned char page) { return (page & 1) != 0; });
}

TEST(NodeHost, WhoIsHereToWorkHasItsMemory) {
  alignas(4096) static std::byte page[4096];
  if (madvise(page, sizeof page, MADV_POPULATE_WRITE) != 0) GTEST_SKIP() << "a system before Linux 5.14";
  boost::asio::io_context io;
  LoopbackHub hub(io);
  LoopbackTransport transport(hub, 0);
  NodeHost host(io, transport, Limits::server(), alone(), WaitPolicy::kPoll, {});
  const auto parts = host.node().memory_of_work();
  EXPECT_FALSE(is_resident(parts[0])) << "a daemon's flight recorder";
  host.take_memory_of_work();
  EXPECT_TRUE(is_resident(parts[0]));
  EXPECT_TRUE(is_resident(parts[1]));
  end(host, io);
}

}  // namespace
}  // namespace fibocast
