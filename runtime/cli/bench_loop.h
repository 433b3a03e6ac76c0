// The measured loop of one operation of a whole group on the live cluster: what `fibocast bench barrier`, `multicast`
// and `allreduce` have in common.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/bench_cluster.h"
#include "runtime/cli/command.h"

namespace fibocast {

inline constexpr std::chrono::seconds kBenchDeadline{30};  // of one repetition
inline constexpr std::uint64_t kMostLoopBytes = 64 << 20;  // that a rank brings: each has its own here

struct BenchLoop {
  std::string dir, socket, raw;
  std::string group = "all";
  std::string order = "given";
  std::uint32_t repetitions = 1000;
  std::uint32_t warmup = 10;
  std::uint64_t seed = 1;
  std::optional<double> scale;
};

// What goes round. For each repetition: prepare(), start() at every member at once, check() of every outcome that is
// ok; only what lies between the first start() and the last outcome is measured.
class LoopedOperation {
 public:
  virtual ~LoopedOperation() = default;
  virtual std::string name() const = 0;
  virtual std::string plural() const { return name() + "s"; }
  virtual Json details() const { return Json::object(); }  // of the answer, behind the number of ranks
  // A repetition's number counts the warm-up, too.
  virtual void prepare(std::uint64_t /*repetition*/, Rank /*ranks*/) {}
  virtual void start(BenchCluster::Member& member, std::function<void(Outcome)> done) = 0;
  virtual Status check(Rank /*rank*/, const Outcome& /*outcome*/) const { return {}; }
  // What the network takes begins with the first send instead of the last arrival: nobody sends to the root.
  virtual bool is_one_way() const { return false; }
};

// NAME and the options of the loop; `what` for their help: "barriers".
void add_bench_loop_options(CLI::App& app, BenchLoop& loop, const std::string& what);
// Runs it and prints what it took; gives the exit code.
int run_bench_loop(const Command& command, const BenchLoop& loop, LoopedOperation& operation);

}  // namespace fibocast
