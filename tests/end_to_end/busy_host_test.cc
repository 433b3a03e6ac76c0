// A host whose processors are all taken by others: daemons that are merely slow are not given up.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/end_to_end/members.h"

namespace fibocast {
namespace {

const int kSeconds = times_or(15);

// Processes that do nothing but take time, twice as many as there are processors. They end with this object, and with
// this process whatever happens to it.
class BusyProcesses {
 public:
  BusyProcesses() {
    for (unsigned i = 0; i < 2 * std::max(1u, std::thread::hardware_concurrency()); ++i) pids_.push_back(start());
  }
  ~BusyProcesses() {
    for (const pid_t pid : pids_) kill(pid, SIGKILL), waitpid(pid, nullptr, 0);
  }
  BusyProcesses(const BusyProcesses&) = delete;
  BusyProcesses& operator=(const BusyProcesses&) = delete;
  bool all_run() const {
    return std::all_of(pids_.begin(), pids_.end(), [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) == 0; });
  }

 private:
  static pid_t start() {
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();  // where sessions share the processors, one of its own counts as much as a daemon
    for (volatile bool alive = getppid() == parent; alive;) {
    }
    _exit(0);
  }
  std::vector<pid_t> pids_;
};

// Applications that call barriers until it is over.
class BusyMembers : public Members {
 public:
  // Rank 0 says when it is over, before its last barrier: all others leave after the same one.
  void call_barriers(std::chrono::steady_clock::time_point until) {
    std::atomic<bool> over = false;
    const std::vector<Status> ends = together(kNodes, [&](Group& group) {
      for (bool last = false; !last;) {
        if (group.rank() == 0 && std::chrono::steady_clock::now() > until) over = true;
        const Outcome outcome = group.barrier(kPatience);
        if (!outcome.ok()) return over = true, outcome.status;
        last = over;
        const Outcome agreed = group.barrier(kPatience);  // nobody looks at `over` before all have seen it
        if (!agreed.ok()) return over = true, agreed.status;
        barriers_ += 2;
      }
      return Status{};
    });
    for (const Status& end : ends) EXPECT_TRUE(end.ok()) << end.sentence;
  }
  void expect_nobody_lost(const std::string& transport) {
    SCOPED_TRACE(transport);
    EXPECT_EQ(sum_of("detector_lost"), 0u);
    EXPECT_GT(sum_of("detector_probes"), 0u);
    std::cout << transport << ": " << barriers_ / kNodes
              << " barriers; suspicions that proved false: " << sum_of("detector_false_suspicions")
              << ", timers that came late: " << sum_of("detector_late") << '\n';
  }

 private:
  std::atomic<std::uint32_t> barriers_ = 0;
};

// Over all three transports at once: 48 daemons, their applications, and twice as many others as there are processors.
TEST(BusyHost, LosesNobody) {
  const std::string transports[] = {"udp", "tcp", "memory"};
  BusyMembers of[std::size(transports)];
  for (std::size_t i = 0; i < std::size(of); ++i) of[i].up(transports[i]);
  const BusyProcesses others;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(kSeconds);
  std::vector<std::thread> running;
  for (BusyMembers& members : of) running.emplace_back([&members, until] { members.call_barriers(until); });
  for (std::thread& one : running) one.join();
  EXPECT_TRUE(others.all_run());
  for (std::size_t i = 0; i < std::size(of); ++i) of[i].expect_nobody_lost(transports[i]);
}

}  // namespace
}  // namespace fibocast
