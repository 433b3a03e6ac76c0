#include "runtime/cli/bench_loop.h"
#include "runtime/cli/commands.h"

namespace fibocast {
namespace {

class LoopedBarrier final : public LoopedOperation {
 public:
  std::string name() const override { return "barrier"; }
  void start(BenchCluster::Member& member, std::function<void(Outcome)> done) override {
    member.group.async_barrier(kBenchDeadline, std::move(done));
  }
};

}  // namespace

void add_bench_barrier_command(CLI::App& parent, Command& command) {
  auto loop = std::make_shared<BenchLoop>();
  CLI::App* sub = add_subcommand(parent, command, "barrier", "A loop of barriers of the whole local cluster",
                                 "fibocast bench barrier --repetitions 10000", [&command, loop] {
                                   LoopedBarrier barrier;
                                   return run_bench_loop(command, *loop, barrier);
                                 });
  add_bench_loop_options(*sub, *loop, "barriers");
}

}  // namespace fibocast
