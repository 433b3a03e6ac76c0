#include <iostream>

#include "runtime/cli/commands.h"
#include "runtime/cli/operation_option.h"

namespace fibocast {
namespace {

struct MulticastOptions {
  OperationChoice choice;
  Rank from = 0;
  std::string file = "-";
};

int multicast(const Command& command, const MulticastOptions& options) {
  auto client = connect(options.choice.daemon);
  if (!client.ok()) return report(command, client.status());
  auto group = client.value()->join(options.choice.group(), options.choice.participants);
  if (!group.ok()) return report(command, group.status());
  Result<std::string> payload = std::string();
  Duration deadline = options.choice.deadline_time();
  if (group->rank() == options.from) payload = read_payload(options.file, **client, deadline);
  if (!payload.ok()) return report(command, payload.status());
  OperationOptions operation;
  operation.label = options.choice.label_text();
  const auto bytes = std::as_bytes(std::span(*payload));
  const Outcome outcome = group->multicast(options.from, bytes, deadline, operation);
  const std::vector<std::byte>& got = outcome.payload;
  if (outcome.ok() && !command.json)
    std::cout.write(reinterpret_cast<const char*>(got.data()), static_cast<std::streamsize>(got.size())).flush();
  return report_outcome(command, outcome);
}

}  // namespace

void add_multicast_command(CLI::App& app, Command& command) {
  auto options = std::make_shared<MulticastOptions>();
  CLI::App* sub = add_subcommand(app, command, "multicast", "The sender's bytes to every member, who prints them",
                                 "fibocast multicast all --from 0 --file settings.toml --rank 0",
                                 [&command, options] { return multicast(command, *options); });
  sub->add_option("--from", options->from, "the sender's rank in the group")->required();
  sub->add_option("--file", options->file, "what the sender sends; -: standard input")->capture_default_str();
  add_operation_options(*sub, options->choice);
}

}  // namespace fibocast
