// No heap in the steady state: all of a daemon - sockets, sessions, codec, node - is counted over many barriers.
#include <atomic>
#include <boost/asio/post.hpp>
#include <cstdlib>
#include <future>
#include <new>

#include "runtime/daemon/key_file.h"
#include "tests/runtime/daemon/cluster_fixture.h"

namespace {
thread_local bool counted = false;
std::atomic<std::uint64_t> allocations{0};
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (counted) ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace fibocast {
namespace {

class Allocation : public ClusterTest, public testing::WithParamInterface<bool> {
 protected:
  // Counts what the daemons' own threads allocate from now on.
  void count() {
    for (auto& daemon : daemons_) {
      std::promise<void> done;
      boost::asio::post(daemon->context(), [&] {
        counted = true;
        done.set_value();
      });
      done.get_future().wait();
    }
    allocations = 0;
  }
};

TEST_P(Allocation, ABarrierTakesNoHeapOnceItRepeats) {
  plan_cluster(3);
  const std::string key = folder_ / "key";
  create_key_file(key, KeyRing(ClusterKey::generate()));
  if (GetParam())
    for (Settings& settings : settings_) {
      settings.security.key_file = key;
      settings.metrics.listen = "127.0.0.1:0";
    }
  start_all();
  wait_connected();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (NodeId rank = 0; rank < 3; ++rank) clients.push_back(std::make_unique<RawClient>(socket(rank)));
  const std::string name = "a group whose name is too long for a short string";
  const auto barrier = [&] {
    std::vector<std::uint64_t> ids;
    for (auto& client : clients) ids.push_back(client->start_barrier(name.substr(0, kMaxGroupName)));
    for (NodeId rank = 0; rank < 3; ++rank)
      ASSERT_EQ(clients[rank]->receive(ids[rank]).status().code(), client::CODE_OK);
  };
  for (auto& client : clients) client->open_group(name.substr(0, kMaxGroupName));
  for (int i = 0; i < 200; ++i) barrier();
  count();
  for (int i = 0; i < 500; ++i) barrier();
  EXPECT_EQ(allocations.load(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Frames, Allocation, testing::Bool(), [](const auto& sealed) {
  return std::string(sealed.param ? "sealed_with_metrics" : "plain");
});

}  // namespace
}  // namespace fibocast
