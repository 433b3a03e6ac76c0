#include <iostream>

#include "runtime/cli/commands.h"
#include "runtime/cli/given_tree_option.h"
#include "runtime/cli/tree_option.h"
#include "runtime/cli/version_text.h"

namespace fibocast {
namespace {

struct GroupOptions {
  DaemonChoice daemon;
  std::string name, ranks, policy;
  bool if_missing = false;
  std::uint32_t participants = 1;
  Rank routers = 0;
  TreeOption distribution, reduction;
  NodesOptions nodes;  // that `distribution` is made for
  std::uint32_t segment_bytes = 0;
};

// A formula for one way.
Status read_formula(const TreeOption& option, std::optional<TreeSpec>& spec) {
  if (option.name.empty()) return {};
  auto tree = tree_spec_of(option);
  if (tree.ok()) spec = *tree;
  return tree.status();
}

Status read_trees(const GroupOptions& options, GroupRequest& request) {
  if (is_given_tree(options.reduction.name))
    return {Code::kInvalid,
            "the reduction goes along a formula; --tree " + options.reduction.name + " serves both ways",
            {}};
  if (Status status = read_formula(options.reduction, request.reduction); !status.ok()) return status;
  if (options.routers >= request.nodes.size())
    return {Code::kInvalid, "the group has no more ranks than routers: name some that take part", {}};
  const std::string& name = options.distribution.name;
  if (!is_given_tree(name, options.nodes)) return read_formula(options.distribution, request.distribution);
  auto tree = given_tree_of(name, options.nodes, static_cast<Rank>(request.nodes.size()) - options.routers);
  if (tree.ok()) request.tree = *tree;
  return tree.status();
}

int create(const Command& command, const GroupOptions& options) {
  GroupRequest request;
  request.name = options.name;
  request.nodes = parse_ranks(options.ranks);
  request.participants = options.participants;
  request.routers = options.routers;
  request.policy = options.policy;
  request.if_missing = options.if_missing;
  request.segment_bytes = options.segment_bytes;
  if (const Status status = read_trees(options, request); !status.ok()) return report(command, status);
  auto client = connect(options.daemon);
  return report(command, client.ok() ? client.value()->create_group(request) : client.status());
}

int plan(const Command& command, const GroupOptions& options) {
  GroupRequest request;
  request.name = options.name;
  request.segment_bytes = options.segment_bytes;
  Status status = read_formula(options.reduction, request.reduction);
  if (status.ok()) status = read_formula(options.distribution, request.distribution);
  if (!status.ok()) return report(command, status);
  auto client = connect(options.daemon);
  return report(command, client.ok() ? client.value()->plan_group(request) : client.status());
}

int remove(const Command& command, const GroupOptions& options) {
  auto client = connect(options.daemon);
  return report(command, client.ok() ? client.value()->remove_group(options.name) : client.status());
}

std::string line_of(const GroupInfo& group) {
  std::string text = group.name + "  ranks " + ranks_text(group.nodes);
  if (group.policy == "all") return text;
  text += "  policy " + group.policy + ", " + std::to_string(group.live) + " of " + std::to_string(group.nodes.size()) +
          " go on (epoch " + std::to_string(group.epoch) + ")";
  return group.outside ? text + ", this daemon is outside" : text;
}

int list(const Command& command, const GroupOptions& options) {
  auto client = connect(options.daemon);
  if (!client.ok()) return report(command, client.status());
  auto node = client.value()->status();
  if (!node.ok()) return report(command, node.status());
  Json groups = Json::array();
  for (const GroupInfo& group : node->groups) {
    groups.push_back({{"name", group.name},
                      {"ranks", group.nodes},
                      {"participants", group.participants},
                      {"policy", group.policy},
                      {"epoch", group.epoch},
                      {"live", group.live},
                      {"outside", group.outside},
                      {"routers", group.routers}});
    if (!command.json) std::cout << line_of(group) << "\n";
  }
  if (command.json) print_json({{"groups", groups}});
  const std::string newer = newer_daemons_text(*node);
  if (!newer.empty() && !command.json && !command.quiet)
    std::cerr << "fibocast: " << newer << "; bring all daemons to one version\n";
  return 0;
}

void add_tree_options(CLI::App& app, const std::string& prefix, TreeOption& option, const std::string& what) {
  app.add_option("--" + prefix + "tree", option.name, "tree of the " + what);
  app.add_option("--" + prefix + "s", option.s, "its send latency, as in 27us")->capture_default_str();
  app.add_option("--" + prefix + "r", option.r, "its receive latency")->capture_default_str();
}

void add_create(CLI::App& group, Command& command, const std::shared_ptr<GroupOptions>& options) {
  CLI::App* sub = add_subcommand(group, command, "create", "Create a group; its members learn it from the network",
                                 "fibocast group create render --ranks 0,3-7 --tree fibo --s 27us --r 88us --rank 0",
                                 [&command, options] { return create(command, *options); });
  sub->add_option("name", options->name, "at most 47 bytes, without /, behind which a label stands; not all")
      ->required();
  sub->add_option("--ranks", options->ranks, "its members, as in 0,3-7")->required();
  sub->add_option("--participants", options->participants, "local participants at each member")->capture_default_str();
  sub->add_option("--routers", options->routers,
                  "so many of the last ranks have no participants; an allgather by flooding among N needs N - 1")
      ->capture_default_str();
  sub->add_option("--policy", options->policy,
                  "when members are lost: all (every operation ends with PEER_LOST), survivors (the others go on, as "
                  "long as they are a majority of those before), quorum:K (and at least K)")
      ->default_str("all");
  sub->add_flag(
      "--if-missing", options->if_missing,
      "one of this name with these ranks, participants, routers and policy is as good, whatever its trees: all "
      "members may ask for it at a time");
  add_tree_options(*sub, "", options->distribution,
                   "distribution (multicast, a barrier's way down): fibo, binomial, kary:4, ...; or of both ways: "
                   "file:PATH (a parent per rank, as `fibocast plan tree` reads it), mesh (2^N ranks), or with --nodes "
                   "heterogeneous, hierarchical, slow-first, ...");
  add_nodes_options(*sub, options->nodes);
  add_tree_options(*sub, "reduction-", options->reduction,
                   "reduction (a barrier's way up): fibo, binomial, kary:4, ...");
  sub->add_option("--segment", options->segment_bytes, "larger multicasts travel in pieces of so many bytes");
  add_daemon_options(*sub, options->daemon);
}

void add_plan(CLI::App& group, Command& command, const std::shared_ptr<GroupOptions>& options) {
  CLI::App* sub = add_subcommand(group, command, "plan",
                                 "Give a group another plan while it works; without trees: the fastest one by this "
                                 "daemon's model, as its settings were loaded last",
                                 "fibocast group plan render --tree fibo --s 27us --r 88us --rank 0",
                                 [&command, options] { return plan(command, *options); });
  sub->add_option("name", options->name, "the group")->required();
  add_tree_options(*sub, "", options->distribution,
                   "distribution (multicast, a barrier's way down): fibo, kary:4, ...");
  add_tree_options(*sub, "reduction-", options->reduction, "reduction (a barrier's way up): fibo, kary:4, ...");
  sub->add_option("--segment", options->segment_bytes, "larger multicasts travel in pieces of so many bytes");
  add_daemon_options(*sub, options->daemon);
}

}  // namespace

void add_group_command(CLI::App& app, Command& command) {
  auto options = std::make_shared<GroupOptions>();
  CLI::App* group = app.add_subcommand("group", "Create, list, plan and remove groups of nodes");
  group->require_subcommand(1);
  add_create(*group, command, options);
  add_plan(*group, command, options);
  CLI::App* all =
      add_subcommand(*group, command, "list", "The groups this daemon knows", "fibocast group list --rank 0",
                     [&command, options] { return list(command, *options); });
  add_daemon_options(*all, options->daemon);
  CLI::App* gone = add_subcommand(*group, command, "remove", "Remove a group", "fibocast group remove render --rank 0",
                                  [&command, options] { return remove(command, *options); });
  gone->add_option("name", options->name, "the group")->required();
  add_daemon_options(*gone, options->daemon);
}

}  // namespace fibocast
