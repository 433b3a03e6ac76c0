#include <unistd.h>

#include <iostream>

#include "runtime/cli/commands.h"
#include "runtime/cli/interrupt.h"
#include "runtime/cli/local_cluster.h"

namespace fibocast {
namespace {

struct UpOptions {
  std::uint32_t nodes = 4;
  std::string machine = "none";
  std::string hold;
  std::uint32_t start = 0;  // 0: all
  std::optional<NodeId> only;
  std::string deadline = "60s";
  NodeFileRequest files;
};

// One line that is written over and over, on a terminal only.
std::function<bool(std::uint32_t, std::uint32_t)> progress_line(bool quiet) {
  const bool shown = !quiet && isatty(STDERR_FILENO);
  return [shown](std::uint32_t connected, std::uint32_t nodes) {
    if (shown) std::cerr << "\r" << connected << " of " << nodes << " daemons connected" << std::flush;
    if (shown && (connected == nodes || is_interrupted())) std::cerr << std::endl;
    return !is_interrupted();
  };
}

std::set<NodeId> held_nodes(const UpOptions& options) {
  std::set<NodeId> held;
  if (!options.hold.empty())
    for (const Rank rank : parse_ranks(options.hold)) held.insert(rank);
  for (NodeId rank = options.start; options.start > 0 && rank < options.nodes; ++rank) held.insert(rank);
  return held;
}

// What is wrong with the wishes themselves.
std::optional<std::string> fault_of(const UpOptions& options, const std::set<NodeId>& held) {
  if (!find_machine(options.machine)) return "no machine '" + options.machine + "': there are manna and none";
  for (const std::string& setting : options.files.settings)
    if (!is_setting(setting)) return "'" + setting + "' is no setting: write SECTION.KEY=VALUE, as in log.level=debug";
  if (!held.empty() && *held.rbegin() >= options.nodes) return "--hold names a rank that the cluster does not have";
  if (held.size() >= options.nodes) return "at least one daemon must be started";
  const std::string& dir = options.files.dir;
  const auto record = read_cluster_record(dir);
  if (record && is_running(dir, *record)) return "a cluster is up in " + dir + " already: fibocast down --dir " + dir;
  if (const auto other = find_unrecorded(dir, options.nodes))
    return "process " + std::to_string(other->pid) + ", a daemon that " + dir +
           "/cluster.json does not name, answers at " + other->socket + ": end it, or take another --dir";
  return std::nullopt;
}

int print_result(const Command& command, const std::string& dir) {
  const auto record = read_cluster_record(dir);
  if (!record)
    return report(command, {Code::kFailed,
                            "the daemons are up, but " + dir +
                                "/cluster.json, by which the other commands find them, "
                                "cannot be read",
                            {}});
  if (command.json) {
    Json nodes = Json::array();
    for (const LocalNode& node : record->nodes)
      nodes.push_back({{"rank", node.rank}, {"pid", node.pid}, {"address", node.address}, {"socket", node.socket}});
    print_json({{"status", "OK"},
                {"dir", dir},
                {"transport", record->transport},
                {"machine", record->machine},
                {"scale", record->scale},
                {"nodes", nodes}});
  } else if (!command.quiet) {
    std::cout << record->nodes.size() << " daemons are up over " << record->transport << " in " << dir
              << "; try: fibocast status, fibocast shell --rank 0" << std::endl;
  }
  return 0;
}

int up(const Command& command, const UpOptions& options) {
  const Duration deadline = parse_duration(options.deadline);
  if (options.only) {
    const Status status = start_held_node(options.files.dir, *options.only, deadline);
    return status.ok() ? print_result(command, options.files.dir) : report(command, status);
  }
  StartRequest request{options.files,       options.machine, options.nodes,
                       held_nodes(options), deadline,        progress_line(command.quiet || command.json)};
  if (const auto fault = fault_of(options, request.hold)) return report(command, {Code::kInvalid, *fault, {}});
  request.files.machine = *find_machine(options.machine);
  catch_interrupts();
  const Status status = start_cluster(std::move(request));
  return status.ok() ? print_result(command, options.files.dir) : report(command, status);
}

}  // namespace

void add_up_command(CLI::App& app, Command& command) {
  auto options = std::make_shared<UpOptions>();
  CLI::App* sub = add_subcommand(app, command, "up", "Start a local cluster of real daemons in the background",
                                 "fibocast up -n 20 --machine manna --scale 100",
                                 [&command, options] { return up(command, *options); });
  sub->add_option("-n,--nodes", options->nodes, "how many daemons")->check(CLI::Range(1, 256))->capture_default_str();
  sub->add_option("--machine", options->machine, "emulate: manna (s = 27 us, r = 88 us) or none")
      ->capture_default_str();
  sub->add_option("--scale", options->files.scale, "emulated times are so many times longer")
      ->check(positive_number())
      ->capture_default_str();
  sub->add_option("--transport", options->files.transport,
                  "udp or tcp, and no memory that the daemons share; without it: udp, and such memory")
      ->check(CLI::IsMember({"udp", "tcp"}))
      ->each([options](const std::string&) { options->files.shares_memory = false; });
  sub->add_option("--wait", options->files.wait, "how a daemon waits")
      ->check(CLI::IsMember({"adaptive", "block", "poll"}));
  add_dir_option(*sub, options->files.dir);
  sub->add_option("--loss", options->files.loss_percent, "lose so many percent of the frames, for tests")
      ->check(CLI::Range(0.0, 90.0));
  sub->add_option("--settings", options->files.settings, "SECTION.KEY=VALUE for every daemon's file; may be repeated");
  sub->add_option("--start", options->start, "start only the first so many ranks");
  sub->add_option("--hold", options->hold, "do not start these ranks yet, as in 2,5-7");
  sub->add_option("--only", options->only, "start this rank, which was held back");
  sub->add_option("--deadline", options->deadline, "give up after this time")->capture_default_str();
}

}  // namespace fibocast
