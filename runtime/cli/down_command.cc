#include <iostream>

#include "runtime/cli/commands.h"
#include "runtime/cli/local_cluster.h"

namespace fibocast {
namespace {

void tell(const Command& command, const Stopped& stopped, const std::string& dir) {
  if (command.json) {
    print_json({{"status", "OK"}, {"dir", dir}, {"stopped", stopped.daemons}, {"killed", stopped.killed}});
  } else if (!command.quiet && stopped.daemons == 0) {
    std::cout << "no cluster is up in " << dir << std::endl;
  } else if (!command.quiet) {
    std::cout << stopped.daemons << " daemons stopped";
    if (stopped.killed > 0) std::cout << ", " << stopped.killed << " of them had to be killed";
    std::cout << std::endl;
  }
}

int down(const Command& command, const std::string& dir) {
  const auto record = read_cluster_record(dir);
  if (const auto stranger = record ? find_stranger(dir, *record) : std::nullopt)
    return report(command, {Code::kFailed,
                            "nothing is stopped: process " + std::to_string(stranger->pid) + ", rank " +
                                std::to_string(stranger->rank) + " of the cluster in " + dir +
                                ", has its settings in another folder: move this one back to where it was, or remove "
                                "it if that process is another cluster's",
                            {stranger->rank}});
  tell(command, record ? stop_cluster(dir, *record) : Stopped{}, dir);
  return 0;
}

}  // namespace

void add_down_command(CLI::App& app, Command& command) {
  auto dir = std::make_shared<std::string>();
  CLI::App* sub = add_subcommand(app, command, "down", "Stop the local cluster and remove its files", "fibocast down",
                                 [&command, dir] { return down(command, *dir); });
  add_dir_option(*sub, *dir);
}

}  // namespace fibocast
