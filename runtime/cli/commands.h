// Every subcommand of `fibocast` that lives here, one file each. `plan` has its own header: plan_command.h.
#pragma once

#include <string>
#include <vector>

#include "runtime/cli/command.h"

namespace fibocast {

// Each adds its subcommand to `app`; `command` outlives the parsing.
void add_up_command(CLI::App& app, Command& command);
void add_down_command(CLI::App& app, Command& command);
void add_status_command(CLI::App& app, Command& command);
void add_trace_command(CLI::App& app, Command& command);
void add_wait_command(CLI::App& app, Command& command);
void add_drain_command(CLI::App& app, Command& command);
void add_doctor_command(CLI::App& app, Command& command);
void add_shell_command(CLI::App& app, Command& command);
void add_run_command(CLI::App& app, Command& command);
void add_key_command(CLI::App& app, Command& command);
void add_group_command(CLI::App& app, Command& command);
void add_barrier_command(CLI::App& app, Command& command);
void add_multicast_command(CLI::App& app, Command& command);
void add_collective_commands(CLI::App& app, Command& command);
void add_calibrate_command(CLI::App& app, Command& command);
void add_bench_command(CLI::App& app, Command& command);
void add_bench_distribution_command(CLI::App& bench, Command& command);
void add_bench_barrier_command(CLI::App& bench, Command& command);
void add_bench_multicast_command(CLI::App& bench, Command& command);
void add_bench_allreduce_command(CLI::App& bench, Command& command);

}  // namespace fibocast
