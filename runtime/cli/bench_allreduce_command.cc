#include "collectives/element_names.h"
#include "runtime/cli/bench_contents.h"
#include "runtime/cli/bench_loop.h"
#include "runtime/cli/commands.h"

namespace fibocast {
namespace {

struct AllreduceBench {
  BenchLoop loop;
  std::uint64_t elements = 1;
  std::optional<std::uint64_t> bytes;  // instead of elements
  std::string type = "int64";
};

class LoopedAllreduce final : public LoopedOperation {
 public:
  LoopedAllreduce(std::uint64_t seed, ElementType type, std::uint64_t elements)
      : seed_(seed), type_(type), elements_(elements) {}
  std::string name() const override { return "allreduce"; }
  std::string plural() const override { return "sums by allreduce"; }
  Json details() const override {
    return {{"bytes", elements_ * element_bytes(type_)}, {"elements", elements_}, {"type", element_type_name(type_)}};
  }
  void prepare(std::uint64_t repetition, Rank ranks) override {
    contents_ = vector_contents(seed_, repetition, type_, elements_, ranks);
  }
  void start(BenchCluster::Member& member, std::function<void(Outcome)> done) override {
    member.group.async_allreduce(contents_.vectors[member.group.rank()], {type_, CombineOperator::kSum}, kBenchDeadline,
                                 std::move(done));
  }
  Status check(Rank rank, const Outcome& outcome) const override {
    return compare_contents(rank, outcome.payload, contents_.sum);
  }

 private:
  std::uint64_t seed_;
  ElementType type_;
  std::uint64_t elements_;
  VectorContents contents_;
};

int bench(const Command& command, const AllreduceBench& options) {
  std::string error;
  const auto type = element_type_by_name(options.type, error);
  if (!type) return report(command, invalid(error));
  const std::uint64_t size = element_bytes(*type);
  if (options.bytes && *options.bytes % size != 0)
    return report(command, invalid("--bytes is " + std::to_string(*options.bytes) + ", but an element of type " +
                                   options.type + " has " + std::to_string(size) + ": give a multiple"));
  const std::uint64_t elements = options.bytes ? *options.bytes / size : options.elements;
  if (elements > kMostLoopBytes / size)
    return report(command, invalid("a vector of " + std::to_string(elements) + " elements of type " + options.type +
                                   " is too long: give at most " + std::to_string(kMostLoopBytes / size)));
  LoopedAllreduce allreduce(options.loop.seed, *type, elements);
  return run_bench_loop(command, options.loop, allreduce);
}

}  // namespace

void add_bench_allreduce_command(CLI::App& parent, Command& command) {
  auto options = std::make_shared<AllreduceBench>();
  CLI::App* sub = add_subcommand(parent, command, "allreduce",
                                 "A loop of sums of vectors over the whole local cluster, results verified",
                                 "fibocast bench allreduce --elements 1000 --type double",
                                 [&command, options] { return bench(command, *options); });
  auto* elements = sub->add_option("--elements", options->elements, "of each rank's vector")->capture_default_str();
  sub->add_option("--bytes", options->bytes, "of each rank's vector, instead of --elements")->excludes(elements);
  sub->add_option("--type", options->type, "of the elements")
      ->check(CLI::IsMember({"int32", "int64", "uint64", "float", "double"}))
      ->capture_default_str();
  add_bench_loop_options(*sub, options->loop, "allreduces");
}

}  // namespace fibocast
