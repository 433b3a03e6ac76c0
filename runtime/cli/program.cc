#include "runtime/cli/program.h"

#include <iostream>
#include <string_view>

#include "runtime/cli/commands.h"
#include "runtime/cli/external_command.h"
#include "runtime/cli/plan_command.h"
#include "runtime/wire/client_codec.h"

namespace fibocast {
namespace {

constexpr int kWrongUse = 2;

void add_commands(CLI::App& app, Command& command) {
  add_up_command(app, command);
  add_down_command(app, command);
  add_status_command(app, command);
  add_wait_command(app, command);
  add_drain_command(app, command);
  add_doctor_command(app, command);
  add_trace_command(app, command);
  add_shell_command(app, command);
  add_run_command(app, command);
  add_key_command(app, command);
  add_group_command(app, command);
  add_barrier_command(app, command);
  add_multicast_command(app, command);
  add_collective_commands(app, command);
  add_plan_command(app, command.exit_code);
  add_calibrate_command(app, command);
  add_bench_command(app, command);
}

std::string version_text() {
  return "fibocast " FIBOCAST_VERSION ", client protocol " + std::to_string(kClientMajor) + "." +
         std::to_string(kClientMinor);
}

bool has_command(const CLI::App& app, const std::string& name) {
  for (const CLI::App* sub : app.get_subcommands({}))
    if (sub->check_name(name)) return true;
  return false;
}

bool asks_json(int argc, char** argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
    if (std::string_view(argv[i]) == "--json") return true;
  return false;
}

int run(int argc, char** argv) {
  CLI::App app("fibocast - barriers, multicasts and their laboratory");
  app.set_version_flag("--version", version_text());
  app.footer("Any other NAME is the program fibocast-NAME.\nExample: fibocast up -n 4 && fibocast status");
  app.require_subcommand(1);
  Command command;
  add_commands(app, command);
  check_numbers(app);
  if (const std::string name = argc > 1 ? argv[1] : ""; !name.empty() && name[0] != '-' && !has_command(app, name)) {
    run_external_command(name, {argv + 2, argv + argc});
    return report({.json = asks_json(argc, argv)},
                  invalid("there is no command '" + name + "'; fibocast --help lists them"));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0 && asks_json(argc, argv)) return report({.json = true}, invalid(error.what()));
    return app.exit(error) == 0 ? 0 : kWrongUse;
  }
  return command.exit_code;
}

}  // namespace

int run_program(int argc, char** argv) {
  hold_standard_streams();
  return check_output(run(argc, argv));
}

}  // namespace fibocast
