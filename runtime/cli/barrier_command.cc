#include <iostream>

#include "runtime/cli/commands.h"
#include "runtime/cli/operation_option.h"
#include "runtime/cli/straggler_text.h"

namespace fibocast {
namespace {

struct BarrierOptions {
  OperationChoice choice;
  bool explain = false;
};

int barrier(const Command& command, const BarrierOptions& barrier) {
  const OperationChoice& choice = barrier.choice;
  auto client = connect(choice.daemon);
  if (!client.ok()) return report(command, client.status());
  auto group = client.value()->join(choice.group(), choice.participants);
  if (!group.ok()) return report(command, group.status());
  OperationOptions options;
  options.label = choice.label_text();
  const Outcome outcome = group->barrier(choice.deadline_time(), options);
  if (barrier.explain && outcome.ok() && !command.json) std::cout << straggler_sentence(outcome.straggler) << std::endl;
  return report_outcome(command, outcome);
}

}  // namespace

void add_barrier_command(CLI::App& app, Command& command) {
  auto options = std::make_shared<BarrierOptions>();
  CLI::App* sub = add_subcommand(app, command, "barrier", "Return when every member of the group is here",
                                 "fibocast barrier gate --deadline 10s --explain --rank 0",
                                 [&command, options] { return barrier(command, *options); });
  add_operation_options(*sub, options->choice);
  sub->add_flag("--explain", options->explain,
                "say which rank came last, and how much later than the others; --json says so always");
}

}  // namespace fibocast
