#include "runtime/cli/bench_contents.h"
#include "runtime/cli/bench_loop.h"
#include "runtime/cli/commands.h"

namespace fibocast {
namespace {

struct MulticastBench {
  BenchLoop loop;
  std::uint64_t bytes = 8;
  Rank root = 0;
};

class LoopedMulticast final : public LoopedOperation {
 public:
  explicit LoopedMulticast(const MulticastBench& bench) : bench_(bench) {}
  std::string name() const override { return "multicast"; }
  Json details() const override { return {{"bytes", bench_.bytes}, {"root", bench_.root}}; }
  bool is_one_way() const override { return true; }
  void prepare(std::uint64_t repetition, Rank /*ranks*/) override {
    message_ = message_contents(bench_.loop.seed, repetition, bench_.bytes);
  }
  void start(BenchCluster::Member& member, std::function<void(Outcome)> done) override {
    const std::span<const std::byte> own = member.group.rank() == bench_.root ? message_ : std::span<const std::byte>();
    member.group.async_multicast(bench_.root, own, kBenchDeadline, std::move(done));
  }
  Status check(Rank rank, const Outcome& outcome) const override {
    return rank == bench_.root ? Status() : compare_contents(rank, outcome.payload, message_);
  }

 private:
  const MulticastBench& bench_;
  std::vector<std::byte> message_;
};

}  // namespace

void add_bench_multicast_command(CLI::App& parent, Command& command) {
  auto bench = std::make_shared<MulticastBench>();
  CLI::App* sub =
      add_subcommand(parent, command, "multicast", "A loop of multicasts to the whole local cluster, contents verified",
                     "fibocast bench multicast --bytes 65536 --root 2", [&command, bench] {
                       LoopedMulticast multicast(*bench);
                       return run_bench_loop(command, bench->loop, multicast);
                     });
  sub->add_option("--bytes", bench->bytes, "of each message")
      ->check(CLI::Range(std::uint64_t{0}, kMostLoopBytes))
      ->capture_default_str();
  sub->add_option("--root", bench->root, "the sender's rank in the group")->capture_default_str();
  add_bench_loop_options(*sub, bench->loop, "multicasts");
}

}  // namespace fibocast
