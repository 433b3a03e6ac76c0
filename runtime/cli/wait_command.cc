#include <iostream>
#include <set>
#include <thread>

#include "runtime/cli/commands.h"

namespace fibocast {
namespace {

using Clock = std::chrono::steady_clock;

struct WaitOptions {
  DaemonChoice daemon;
  std::uint32_t nodes = 0;
  std::string deadline = "30s";
};

struct Look {
  Status status;  // of the last attempt to ask
  std::uint32_t connected = 0, size = 0;
  std::vector<Rank> missing = {};
};

Look look(const DaemonChoice& choice) {
  auto client = connect(choice);
  if (!client.ok()) return {client.status()};
  auto node = client.value()->status();
  if (!node.ok()) return {node.status()};
  std::set<Rank> there{node->rank};
  for (const PeerInfo& peer : node->peers)
    if (peer.state == "connected") there.insert(peer.rank);
  Look result{{}, static_cast<std::uint32_t>(there.size()), node->size, {}};
  for (Rank rank = 0; rank < node->size; ++rank)
    if (!there.contains(rank)) result.missing.push_back(rank);
  return result;
}

Status too_late(const Look& last, const WaitOptions& options) {
  if (!last.status.ok()) return last.status;
  const std::string why = options.nodes > last.size ? "the cluster has only " + std::to_string(last.size) + " nodes"
                                                    : "missing ranks: " + ranks_text(last.missing);
  return {Code::kDeadlineExceeded,
          "after " + options.deadline + " only " + std::to_string(last.connected) + " of " +
              std::to_string(options.nodes) + " nodes are connected; " + why,
          last.missing};
}

// A daemon that is not there yet is waited for like a peer that is not, or that is not in its list yet.
int wait(const Command& command, const WaitOptions& options) {
  if (auto socket = find_socket(options.daemon); !socket.ok()) return report(command, socket.status());
  const auto until = Clock::now() + parse_duration(options.deadline);
  for (;;) {
    const Look last = look(options.daemon);
    if (last.status.ok() && last.connected >= options.nodes) return report(command, {});
    if (Clock::now() >= until) return report(command, too_late(last, options));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

void add_wait_command(CLI::App& app, Command& command) {
  auto options = std::make_shared<WaitOptions>();
  CLI::App* sub = add_subcommand(app, command, "wait", "Return when so many nodes are connected to this one",
                                 "fibocast wait --nodes 4 --deadline 10s --rank 0",
                                 [&command, options] { return wait(command, *options); });
  sub->add_option("--nodes", options->nodes, "this node counted")->required()->check(positive_number());
  sub->add_option("--deadline", options->deadline, "give up after this time")->capture_default_str();
  add_daemon_options(*sub, options->daemon);
}

}  // namespace fibocast
