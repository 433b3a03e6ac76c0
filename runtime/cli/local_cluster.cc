#include "runtime/cli/local_cluster.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "runtime/cli/process.h"
#include "runtime/client/client.h"

namespace fibocast {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLook = std::chrono::milliseconds(10);  // between two looks at processes
constexpr auto kTermPatience = std::chrono::seconds(3);
constexpr int kPortAttempts = 3;

Status failed(const std::string& sentence) { return {Code::kFailed, sentence, {}}; }

// Watches the nodes of a cluster until all that were started are connected to one another.
class ConnectionWatch {
 public:
  ConnectionWatch(std::string dir, const ClusterRecord& record) : dir_(std::move(dir)) {
    for (const LocalNode& node : record.nodes)
      if (node.pid > 0) waiting_.emplace(node.rank, node), started_.insert(node.rank);
  }
  std::uint32_t started() const { return static_cast<std::uint32_t>(started_.size()); }
  std::uint32_t connected() const { return started() - static_cast<std::uint32_t>(waiting_.size()); }
  // Looks once; a failure if a daemon has ended.
  Status look() {
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      if (!is_running(dir_, at->second) && !just_forked(at->second)) return ended(at->second);
      at = is_connected(at->second) ? waiting_.erase(at) : std::next(at);
    }
    return {};
  }

 private:
  // Between fork and exec a daemon still looks like us.
  static bool just_forked(const LocalNode& node) {
    int how = 0;
    return waitpid(node.pid, &how, WNOHANG) == 0;
  }
  Status ended(const LocalNode& node) const {
    const std::string last = last_line(node_path(dir_, node.rank, "log"));
    return failed("the daemon of rank " + std::to_string(node.rank) + " ended: " + (last.empty() ? "no word" : last));
  }
  bool is_connected(const LocalNode& node) {
    std::shared_ptr<Client>& client = clients_[node.rank];
    if (!client) {
      auto connected = Client::connect(node.socket);
      if (!connected.ok()) return false;
      client = *connected;
    }
    auto info = client->status();
    if (!info.ok()) {
      client.reset();
      return false;
    }
    if (info->pid != node.pid) return false;  // another daemon: ours will say that it finds the socket taken
    std::size_t peers = 1;
    for (const PeerInfo& peer : info->peers)
      if (peer.rank != node.rank && peer.state == "connected" && started_.contains(peer.rank)) ++peers;
    return peers >= started_.size();
  }
  std::string dir_;
  std::map<NodeId, LocalNode> waiting_;
  std::set<NodeId> started_;
  std::map<NodeId, std::shared_ptr<Client>> clients_;
};

Status wait_connected(const std::string& dir, const ClusterRecord& record, Duration deadline,
                      const std::function<bool(std::uint32_t, std::uint32_t)>& progress) {
  ConnectionWatch watch(dir, record);
  const auto until = Clock::now() + deadline;
  for (;;) {
    if (Status status = watch.look(); !status.ok()) return status;
    if (progress && !progress(watch.connected(), watch.started()))
      return {Code::kCancelled, "interrupted: the daemons were stopped again", {}};
    if (watch.connected() == watch.started()) return {};
    if (Clock::now() >= until)
      return {Code::kDeadlineExceeded,
              "only " + std::to_string(watch.connected()) + " of " + std::to_string(watch.started()) +
                  " daemons are connected to all others; their words are in " + dir + "/node-*.log",
              {}};
    std::this_thread::sleep_for(kLook);
  }
}

Status start_node(const std::string& dir, LocalNode& node) {
  const std::string program = find_program("fibocastd");
  if (program.empty()) return failed("there is no program fibocastd beside fibocast, nor on PATH");
  node.pid = start_detached({program, "--config", node_path(dir, node.rank, "toml")}, node_path(dir, node.rank, "log"));
  if (node.pid < 0) return failed(std::string("cannot start a process: ") + std::strerror(errno));
  return {};
}

Status make_folder(const std::string& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return failed("cannot make the folder " + dir + ": " + error.message());
  chmod(dir.c_str(), 0700);
  return {};
}

Status write_files(const StartRequest& request, ClusterRecord& record) {
  const NodeFileRequest& files = request.files;
  for (NodeId rank = 0; rank < request.nodes; ++rank) {
    std::ofstream(node_path(files.dir, rank, "toml")) << node_file(files, rank);
    record.nodes.push_back({rank, 0, files.addresses[rank], node_path(files.dir, rank, "sock")});
  }
  if (!write_cluster_record(files.dir, record))
    return failed("cannot write in " + files.dir + ": " + std::strerror(errno));
  return {};
}

Status start_once(const StartRequest& request, ClusterRecord& record) {
  const std::string& dir = request.files.dir;
  if (Status status = write_files(request, record); !status.ok()) return status;
  for (LocalNode& node : record.nodes) {
    if (request.hold.contains(node.rank)) continue;
    if (Status status = start_node(dir, node); !status.ok()) return status;
  }
  if (!write_cluster_record(dir, record)) return failed("cannot write in " + dir + ": " + std::strerror(errno));
  return wait_connected(dir, record, request.deadline, request.progress);
}

void signal_all(const std::string& dir, const ClusterRecord& record, int number) {
  for (const LocalNode& node : record.nodes)
    if (is_running(dir, node)) kill(node.pid, number);
}

std::uint32_t count_running(const std::string& dir, const ClusterRecord& record) {
  std::uint32_t count = 0;
  for (const LocalNode& node : record.nodes) {
    if (node.pid > 0) waitpid(node.pid, nullptr, WNOHANG);  // ours only if this process started it
    count += is_running(dir, node);
  }
  return count;
}

}  // namespace

bool is_running(const std::string& dir, const LocalNode& node) {
  return is_daemon_of(node.pid, node_path(dir, node.rank, "toml"));
}

bool is_running(const std::string& dir, const ClusterRecord& record) { return count_running(dir, record) > 0; }

Status start_cluster(StartRequest request) {
  Status status;
  for (int attempt = 0; attempt < kPortAttempts; ++attempt) {
    request.files.addresses = free_loopback_addresses(request.nodes);
    if (request.files.addresses.empty()) return failed("the system has no free ports on 127.0.0.1");
    ClusterRecord record{request.files.transport, request.machine_name, request.files.scale, {}};
    if (status = make_folder(request.files.dir); !status.ok()) return status;  // an attempt that fails removes it
    status = start_once(request, record);
    if (status.ok()) return status;
    stop_cluster(request.files.dir, record);
    if (status.sentence.find("in use") == std::string::npos) return status;  // somebody took a port meanwhile: again
  }
  return status;
}

Status start_held_node(const std::string& dir, NodeId rank, Duration deadline) {
  auto record = read_cluster_record(dir);
  if (!record) return {Code::kUnavailable, "no local cluster is up in " + dir, {}};
  if (rank >= record->nodes.size()) return {Code::kInvalid, "the cluster has no rank " + std::to_string(rank), {}};
  LocalNode& node = record->nodes[rank];
  if (is_running(dir, node)) return {Code::kInvalid, "rank " + std::to_string(rank) + " is up already", {}};
  if (Status status = start_node(dir, node); !status.ok()) return status;
  write_cluster_record(dir, *record);
  ClusterRecord running = *record;
  for (LocalNode& other : running.nodes)
    if (other.rank != rank && !is_running(dir, other)) other.pid = 0;
  Status status = wait_connected(dir, running, deadline, {});
  if (!status.ok() && is_running(dir, node)) kill(node.pid, SIGKILL);
  return status;
}

std::optional<LocalNode> find_unrecorded(const std::string& dir, std::uint32_t nodes) {
  const auto record = read_cluster_record(dir);
  for (NodeId rank = 0; rank < nodes; ++rank) {
    const std::string socket = node_path(dir, rank, "sock");
    auto client = Client::connect(socket);
    if (!client.ok()) continue;
    auto info = (*client)->status();
    const pid_t pid = info.ok() ? static_cast<pid_t>(info->pid) : 0;
    if (!record || rank >= record->nodes.size() || record->nodes[rank].pid != pid)
      return LocalNode{rank, pid, "", socket};
  }
  return std::nullopt;
}

std::optional<LocalNode> find_stranger(const std::string& dir, const ClusterRecord& record) {
  for (const LocalNode& node : record.nodes)
    if (is_daemon(node.pid) && !is_running(dir, node)) return node;
  return std::nullopt;
}

Stopped stop_cluster(const std::string& dir, const ClusterRecord& record) {
  Stopped stopped{count_running(dir, record), 0};
  signal_all(dir, record, SIGTERM);
  const auto until = Clock::now() + kTermPatience;
  while (count_running(dir, record) > 0 && Clock::now() < until) std::this_thread::sleep_for(kLook);
  stopped.killed = count_running(dir, record);
  signal_all(dir, record, SIGKILL);
  while (count_running(dir, record) > 0 && Clock::now() < until + kTermPatience) std::this_thread::sleep_for(kLook);
  remove_cluster_files(dir, record);
  return stopped;
}

}  // namespace fibocast
