#include <iostream>

#include "runtime/cli/commands.h"

namespace fibocast {
namespace {

int drain(const Command& command, const DaemonChoice& choice) {
  auto client = connect(choice);
  if (!client.ok()) return report(command, client.status());
  if (const Status status = (*client)->drain(); !status.ok()) return report(command, status);
  const NodeId rank = (*client)->rank();
  if (command.json)
    print_json({{"status", "OK"}, {"rank", rank}});
  else if (!command.quiet)
    std::cout << "rank " << rank << " has left" << std::endl;
  return 0;
}

}  // namespace

void add_drain_command(CLI::App& app, Command& command) {
  auto choice = std::make_shared<DaemonChoice>();
  CLI::App* sub = add_subcommand(app, command, "drain",
                                 "One daemon answers what is under way, leaves the cluster and ends, as at SIGTERM",
                                 "fibocast drain --rank 2", [&command, choice] { return drain(command, *choice); });
  add_daemon_options(*sub, *choice);
}

}  // namespace fibocast
