// An application that drives a node of its own is killed at any instruction of a barrier, or of multicasts from it and
// to it: the others of its group hear that it is lost, nobody else notices, and the next group works. Its daemon shares
// no memory with it, so there is nothing that a death could leave half written there; with its peers it shares rings,
// and the payloads that they take from each other.
//
// FIBOCAST_KILLS: how many, 20 without it; FIBOCAST_FIRST_KILL: beginning with which, of 20,000 different ones.
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "runtime/client/client.h"
#include "tests/runtime/daemon/cluster_fixture.h"

namespace fibocast {
namespace {

using std::chrono::minutes;

constexpr NodeId kVictim = 1;
constexpr std::size_t kDataBytes = 20'000;  // by reference where memory is shared; as in direct_victim.cc
constexpr int kSteps = 20'000;              // the instructions of an operation or two
constexpr int kStride = 7919;               // a prime: few kills are spread over all of them

// A step is some ten times faster where who steps and who is stepped share a processor.
void stay_on_one_processor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
}

int number_in(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

struct Over {
  const char* name;
  bool memory, data;
};

class DirectKill : public ClusterTest, public testing::WithParamInterface<Over> {
 protected:
  std::string local() const { return GetParam().memory ? (folder_ / "memory").string() : "off"; }

  pid_t start_victim() {
    const std::string shared = local();
    const char* operations = GetParam().data ? "data" : "barrier";
    const char* words[] = {FIBOCAST_VICTIM, socket(kVictim).c_str(), shared.c_str(), operations, nullptr};
    pid_t pid = -1;
    EXPECT_EQ(posix_spawn(&pid, FIBOCAST_VICTIM, nullptr, nullptr, const_cast<char**>(words), environ), 0);
    return pid;
  }

  // False: it ended before.
  static bool step(pid_t victim, int instructions) {
    int state = 0;
    for (int i = 0; i < instructions; ++i) {
      if (ptrace(PTRACE_SINGLESTEP, victim, nullptr, nullptr) != 0) return false;
      if (waitpid(victim, &state, __WALL) != victim || !WIFSTOPPED(state)) return false;
    }
    return true;
  }

  void kill_victim(int instructions) {
    const pid_t victim = start_victim();
    int state = 0;
    ASSERT_EQ(waitpid(victim, &state, __WALL), victim);
    ASSERT_TRUE(WIFSTOPPED(state)) << "exit code " << WEXITSTATUS(state);
    EXPECT_TRUE(step(victim, instructions));
    kill(victim, SIGKILL);
    waitpid(victim, &state, __WALL);
    EXPECT_TRUE(WIFSIGNALED(state));
  }

  // What the victim does as well. A payload that comes is whole, come what may.
  static void multicast_both_ways(Group& group) {
    for (const Rank root : {Rank{0}, kVictim}) {
      const std::vector<std::byte> wanted(kDataBytes, static_cast<std::byte>(root + 1));
      std::vector<std::byte> bytes = group.info().rank == root ? wanted : std::vector<std::byte>(kDataBytes);
      const Outcome outcome = group.multicast_into(root, bytes, minutes(1));
      if (outcome.ok())
        ASSERT_EQ(bytes, wanted);
      else
        ASSERT_EQ(outcome.status.code, Code::kPeerLost) << outcome.status.sentence;
    }
  }

  void survive(const std::shared_ptr<Client>& client, int kills) {
    for (int i = 0; i < kills; ++i) {
      auto group = client->open_direct("all", {.deadline = minutes(1), .local = local()});
      ASSERT_TRUE(group.ok()) << "after " << i << " kills: " << group.status().sentence;
      Outcome outcome;
      do {
        if (GetParam().data) multicast_both_ways(*group);
        outcome = group->barrier(minutes(1));
      } while (outcome.ok());
      ASSERT_EQ(outcome.status.code, Code::kPeerLost) << "kill " << i << ": " << outcome.status.sentence;
      ASSERT_EQ(outcome.status.ranks, std::vector<Rank>{kVictim}) << "kill " << i << ": " << outcome.status.sentence;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Over, DirectKill,
                         testing::Values(Over{"udp", false, false}, Over{"memory", true, false},
                                         Over{"udp_data", false, true}, Over{"memory_data", true, true}),
                         [](const auto& over) { return std::string(over.param.name); });

TEST_P(DirectKill, AtAnyInstructionHarmsNobodyElse) {
  plan_cluster(3);
  start_all();
  wait_connected();
  const int kills = number_in("FIBOCAST_KILLS", 20), first = number_in("FIBOCAST_FIRST_KILL", 0);
  std::vector<std::thread> survivors;
  for (const NodeId rank : {0u, 2u})
    survivors.emplace_back([&, rank] { survive(*Client::connect(socket(rank)), kills); });
  stay_on_one_processor();
  for (int i = 0; i < kills && !HasFailure(); ++i) kill_victim((first + i) % kSteps * kStride % kSteps);
  for (std::thread& survivor : survivors) survivor.join();

  std::vector<std::thread> members;
  for (NodeId rank = 0; rank < 3; ++rank)
    members.emplace_back([&, rank] {
      auto group = (*Client::connect(socket(rank)))->open("all");
      ASSERT_TRUE(group.ok()) << group.status().sentence;
      const Outcome outcome = group->barrier(minutes(1));
      EXPECT_TRUE(outcome.ok()) << outcome.status.sentence;
    });
  for (std::thread& member : members) member.join();
  if (!GetParam().memory) return;
  const auto files = std::distance(std::filesystem::directory_iterator(local()), std::filesystem::directory_iterator());
  EXPECT_LE(files, 3) << "the lock, and the rings and the bell of the last one";
}

}  // namespace
}  // namespace fibocast
