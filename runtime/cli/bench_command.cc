#include "runtime/cli/commands.h"

namespace fibocast {

void add_bench_command(CLI::App& app, Command& command) {
  CLI::App* bench = app.add_subcommand("bench", "Measured loops on the live cluster");
  bench->require_subcommand(1);
  add_bench_distribution_command(*bench, command);
  add_bench_barrier_command(*bench, command);
  add_bench_multicast_command(*bench, command);
  add_bench_allreduce_command(*bench, command);
}

}  // namespace fibocast
