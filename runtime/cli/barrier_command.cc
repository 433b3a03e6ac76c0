#include "runtime/cli/commands.h"
#include "runtime/cli/operation_option.h"

namespace fibocast {
namespace {

int barrier(const Command& command, const OperationChoice& choice) {
  auto client = connect(choice.daemon);
  if (!client.ok()) return report(command, client.status());
  auto group = client.value()->join(choice.group(), choice.participants);
  if (!group.ok()) return report(command, group.status());
  OperationOptions options;
  options.label = choice.label_text();
  return report_outcome(command, group->barrier(choice.deadline_time(), options));
}

}  // namespace

void add_barrier_command(CLI::App& app, Command& command) {
  auto choice = std::make_shared<OperationChoice>();
  CLI::App* sub = add_subcommand(app, command, "barrier", "Return when every member of the group is here",
                                 "fibocast barrier gate --deadline 10s --rank 0",
                                 [&command, choice] { return barrier(command, *choice); });
  add_operation_options(*sub, *choice);
}

}  // namespace fibocast
