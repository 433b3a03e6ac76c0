#include "runtime/daemon/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>
#include <vector>

namespace fibocast {
namespace {

std::vector<int> allowed_cores() {
  cpu_set_t allowed;
  EXPECT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  return cores;
}

// The kernel may move us on at once: it is enough to get there once.
bool gets_to(unsigned index, int core) {
  for (int i = 0; i < 10'000; ++i) {
    cores::move_to(index);
    if (sched_getcpu() == core) return true;
  }
  return false;
}

TEST(Cores, AThreadMovesToAnyThatItMayUse) {
  const auto before = allowed_cores();
  for (unsigned index = 0; index < 2 * before.size(); ++index)
    EXPECT_TRUE(gets_to(index, before[index % before.size()])) << index;
  EXPECT_EQ(allowed_cores(), before) << "it may use the same ones as before";
}

TEST(Cores, WhoMayUseOneStaysThere) {
  std::thread([last = allowed_cores().back()] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    for (const unsigned index : {0u, 1u, 7u}) EXPECT_FALSE(cores::move_to(index));
    cores::move_to_another();
    EXPECT_EQ(sched_getcpu(), last);
    EXPECT_EQ(allowed_cores(), std::vector{last});
  }).join();
}

}  // namespace
}  // namespace fibocast
