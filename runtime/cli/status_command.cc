#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>

#include "runtime/cli/cluster_record.h"
#include "runtime/cli/commands.h"
#include "runtime/cli/straggler_text.h"
#include "runtime/cli/version_text.h"

namespace fibocast {
namespace {

Json to_json(const PeerInfo& peer) {
  return {{"rank", peer.rank},
          {"address", peer.address},
          {"state", peer.state},
          {"frames_sent", peer.frames_sent},
          {"frames_received", peer.frames_received},
          {"resends", peer.resends},
          {"bare_acks", peer.bare_acks},
          {"duplicates", peer.duplicates},
          {"restarts", peer.restarts},
          {"round_trip_ns", peer.round_trip}};
}

Json to_json(const GroupInfo& group) {
  Json slowest = Json::array();
  for (const SlowRank& row : group.slowest) slowest.push_back(to_json(row));
  return {{"name", group.name},
          {"rank", group.rank},
          {"size", group.size},
          {"participants", group.participants},
          {"next_generation", group.next_generation},
          {"ranks", group.nodes},
          {"slowest", slowest}};
}

Json to_json(const NodeInfo& node) {
  Json json{{"rank", node.rank},           {"size", node.size},       {"cluster", node.cluster},
            {"transport", node.transport}, {"version", node.version}, {"pid", node.pid},
            {"connected", node.connected}, {"clients", node.clients}, {"payload_bytes_used", node.payload_bytes_used},
            {"security", node.security},   {"keys", node.keys},       {"metrics", node.metrics}};
  json["peers"] = Json::array();
  for (const PeerInfo& peer : node.peers) json["peers"].push_back(to_json(peer));
  json["groups"] = Json::array();
  for (const GroupInfo& group : node.groups) json["groups"].push_back(to_json(group));
  json["counters"] = node.counters;
  return json;
}

std::uint64_t resends_of(const NodeInfo& node) {
  std::uint64_t sum = 0;
  for (const PeerInfo& peer : node.peers) sum += peer.resends;
  return sum;
}

std::string memory_text(const NodeInfo& node) {
  const auto peers = node.counters.find("local_peers");
  if (peers == node.counters.end() || peers->second == 0) return {};
  return " and memory shared with " + std::to_string(peers->second) + (peers->second == 1 ? " node" : " nodes");
}

// A number at the right end of a column; one that is too long for it moves the others.
std::string column(std::uint64_t value, std::size_t width) {
  const std::string text = std::to_string(value);
  return std::string(std::max<std::size_t>(width, text.size() + 1) - text.size(), ' ') + text;
}

void print_node(const NodeInfo& node) {
  std::cout << "rank " << node.rank << " of " << node.size << " in cluster '" << node.cluster << "' over "
            << node.transport << memory_text(node) << ", fibocastd " << node.version << ", process " << node.pid << "\n"
            << node.security << "\n\n"
            << "rank  state       address                 sent   received  resends  round trip\n";
  for (const PeerInfo& peer : node.peers) {
    std::cout << std::setw(4) << peer.rank << "  " << std::left << std::setw(10) << peer.state << "  " << std::setw(20)
              << peer.address << std::right << column(peer.frames_sent, 8) << column(peer.frames_received, 11)
              << column(peer.resends, 9) << column(static_cast<std::uint64_t>(peer.round_trip) / 1000, 9) << " us\n";
  }
  for (const GroupInfo& group : node.groups)
    std::cout << "group '" << group.name << "': rank " << group.rank << " of " << group.size << ", "
              << group.next_generation << " operations done, members " << ranks_text(group.nodes) << "\n";
  for (const GroupInfo& group : node.groups) std::cout << slowest_text(group);
  if (const std::string newer = newer_daemons_text(node); !newer.empty())
    std::cout << newer << "; bring all daemons to one version\n";
  std::cout << std::flush;
}

int show_one(const Command& command, const DaemonChoice& choice) {
  auto socket = find_socket(choice);
  if (!socket.ok()) return report(command, socket.status());
  auto node = ask_status(*socket);
  if (!node.ok()) return report(command, node.status());
  if (command.json)
    print_json(to_json(*node));
  else
    print_node(*node);
  return 0;
}

void print_row(const LocalNode& local, Result<NodeInfo>& node) {
  std::cout << std::setw(4) << local.rank << "  " << std::left << std::setw(20) << local.address << std::right;
  if (!node.ok()) {
    std::cout << "  " << (local.pid > 0 ? "does not answer" : "held back") << "\n";
    return;
  }
  std::cout << column(static_cast<std::uint64_t>(node->pid), 8) << column(node->connected, 11)
            << column(node->groups.size(), 8) << column(node->clients, 9) << column(resends_of(*node), 9) << "\n";
}

// The answers of the daemons of a record, in its order.
using Answers = std::vector<Result<NodeInfo>>;

Json to_json(const ClusterRecord& record, Answers& answers) {
  Json nodes = Json::array();
  for (std::size_t i = 0; i < answers.size(); ++i)
    nodes.push_back(answers[i].ok() ? to_json(*answers[i])
                                    : Json{{"rank", record.nodes[i].rank}, {"error", answers[i].status().sentence}});
  return {{"transport", record.transport}, {"machine", record.machine}, {"nodes", nodes}};
}

// Of each group as the first daemon that knows somebody.
void print_slowest(Answers& answers) {
  std::map<std::string, std::string> texts;
  for (auto& node : answers) {
    if (!node.ok()) continue;
    for (const GroupInfo& group : node->groups)
      if (!group.slowest.empty()) texts.try_emplace(group.name, slowest_text(group));
  }
  for (const auto& [group, text] : texts) std::cout << text;
}

void print_insecure(Answers& answers) {
  for (auto& node : answers)
    if (node.ok() && node->security.starts_with("INSECURE"))
      std::cout << "rank " << node->rank << ": " << node->security << "\n";
}

void print_newer(Answers& answers) {
  for (auto& node : answers) {
    const std::string text = node.ok() ? newer_daemons_text(*node) : std::string();
    if (!text.empty()) std::cout << "rank " << node->rank << ": " << text << "; bring all daemons to one version\n";
  }
}

void print_cluster(const ClusterRecord& record, Answers& answers) {
  std::cout << "rank  address                  pid  connected  groups  clients  resends\n";
  for (std::size_t i = 0; i < answers.size(); ++i) print_row(record.nodes[i], answers[i]);
  print_slowest(answers);
  print_insecure(answers);
  print_newer(answers);
  std::cout << std::flush;
}

// All daemons of the local cluster, one line each, and who is slow in its groups.
int show_cluster(const Command& command, const std::string& dir) {
  const auto record = read_cluster_record(dir);
  if (!record)
    return report(command,
                  {Code::kUnavailable, "no local cluster is up in " + dir + ", and FIBOCAST_SOCKET is not set", {}});
  Answers answers;
  for (const LocalNode& local : record->nodes) answers.push_back(ask_status(local.socket));
  if (command.json)
    print_json(to_json(*record, answers));
  else
    print_cluster(*record, answers);
  return 0;
}

}  // namespace

void add_status_command(CLI::App& app, Command& command) {
  auto choice = std::make_shared<DaemonChoice>();
  CLI::App* sub =
      add_subcommand(app, command, "status",
                     "One daemon's peers, groups, slowest ranks and counters; or a line for each of the local cluster",
                     "fibocast status --rank 0 --json", [&command, choice] {
                       const char* socket = std::getenv("FIBOCAST_SOCKET");
                       const bool one = !choice->socket.empty() || choice->rank || (socket && *socket);
                       return one ? show_one(command, *choice) : show_cluster(command, choice->dir);
                     });
  add_daemon_options(*sub, *choice);
}

}  // namespace fibocast
