#include <cstdlib>
#include <iostream>

#include "runtime/cli/cluster_record.h"
#include "runtime/cli/commands.h"
#include "runtime/cli/process.h"

namespace fibocast {
namespace {

struct ShellOptions {
  NodeId rank = 0;
  std::string dir;
  std::string script;
};

int shell(const Command& command, const ShellOptions& options) {
  const auto record = read_cluster_record(options.dir);
  if (!record) return report(command, {Code::kUnavailable, "no local cluster is up in " + options.dir, {}});
  if (options.rank >= record->nodes.size())
    return report(command, {Code::kInvalid, "the cluster has no rank " + std::to_string(options.rank), {}});
  const char* shell = std::getenv("SHELL");
  std::vector<std::string> arguments{shell && *shell ? shell : "/bin/sh"};
  if (!options.script.empty()) arguments.insert(arguments.end(), {"-c", options.script});
  execute(arguments, {{"FIBOCAST_SOCKET", record->nodes[options.rank].socket},
                      {"FIBOCAST_RANK", std::to_string(options.rank)},
                      {"FIBOCAST_SIZE", std::to_string(record->nodes.size())}});
  return report(command, {Code::kFailed, "cannot run " + arguments[0], {}});
}

}  // namespace

void add_shell_command(CLI::App& app, Command& command) {
  auto options = std::make_shared<ShellOptions>();
  CLI::App* sub = add_subcommand(app, command, "shell", "A shell that talks to one daemon of the local cluster",
                                 "fibocast shell --rank 1 -c 'fibocast barrier gate'",
                                 [&command, options] { return shell(command, *options); });
  sub->add_option("--rank", options->rank, "whose daemon")->required();
  sub->add_option("-c", options->script, "run this instead of asking for commands");
  add_dir_option(*sub, options->dir);
}

}  // namespace fibocast
