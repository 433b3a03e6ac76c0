#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <map>

#include "runtime/cli/cluster_record.h"
#include "runtime/cli/commands.h"
#include "runtime/cli/process.h"

namespace fibocast {
namespace {

struct RunOptions {
  std::uint32_t count = 0;  // 0: one for each daemon
  std::string dir;
  std::vector<std::string> program;
};

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// With a terminal as input programs stay in our process group, or the terminal would stop them when they read, and
// Ctrl-Z and Ctrl-C would not reach them. Without one each has its own: what it has started ends with it.
bool has_own_groups() { return isatty(STDIN_FILENO) == 0; }

sigset_t block_signals(bool own_groups) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kPassedOn) sigaddset(&set, number);
  if (own_groups) sigaddset(&set, SIGTSTP), sigaddset(&set, SIGCONT);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return set;
}

int exit_code_of(int how) { return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how); }

using Children = std::map<pid_t, NodeId>;

// Collects those that have ended; the worst exit code.
int collect(Children& children, std::map<NodeId, int>& codes) {
  int how = 0;
  int worst = 0;
  for (pid_t pid; (pid = waitpid(-1, &how, WNOHANG)) > 0;) {
    const auto child = children.find(pid);
    if (child == children.end()) continue;
    worst = std::max(worst, codes[child->second] = exit_code_of(how));
    children.erase(child);
  }
  return worst;
}

void pass_on(int number, const Children& children, bool own_groups) {
  for (const auto& [pid, rank] : children) kill(own_groups ? -pid : pid, number);
  if (number == SIGTSTP) raise(SIGSTOP);
}

// A terminal gives its signals to the whole foreground group itself: those are passed on to other groups only.
int wait_for_all(Children children, const sigset_t& signals, bool own_groups, std::map<NodeId, int>& codes) {
  int worst = collect(children, codes);
  while (!children.empty()) {
    siginfo_t info{};
    const int number = sigwaitinfo(&signals, &info);
    if (number == SIGCHLD) worst = std::max(worst, collect(children, codes));
    if (number > 0 && number != SIGCHLD && (own_groups || info.si_code != SI_KERNEL))
      pass_on(number, children, own_groups);
  }
  return worst;
}

ExtraEnvironment environment_of(const LocalNode& node, std::uint32_t size) {
  return {{"FIBOCAST_RANK", std::to_string(node.rank)},
          {"FIBOCAST_SIZE", std::to_string(size)},
          {"FIBOCAST_SOCKET", node.socket}};
}

int run(const Command& command, const RunOptions& options) {
  const auto record = read_cluster_record(options.dir);
  if (!record) return report(command, {Code::kUnavailable, "no local cluster is up in " + options.dir, {}});
  const auto size = static_cast<std::uint32_t>(record->nodes.size());
  const std::uint32_t count = options.count == 0 ? size : options.count;
  if (count > size)
    return report(command, {Code::kInvalid, "the cluster has only " + std::to_string(size) + " daemons", {}});
  const bool own_groups = has_own_groups();
  const sigset_t signals = block_signals(own_groups);
  Children children;
  std::map<NodeId, int> codes;
  for (NodeId rank = 0; rank < count; ++rank) {
    const pid_t pid = start_child(options.program, environment_of(record->nodes[rank], count), own_groups);
    if (pid > 0) {
      children.emplace(pid, rank);
      continue;
    }
    const std::string why = std::strerror(errno);
    pass_on(SIGKILL, children, own_groups);
    return report(command, {Code::kFailed, "cannot start a process: " + why, {}});
  }
  const int worst = wait_for_all(std::move(children), signals, own_groups, codes);
  if (command.json) {
    Json all = Json::array();
    for (const auto& [rank, code] : codes) all.push_back({{"rank", rank}, {"exit_code", code}});
    print_json({{"exit_code", worst}, {"ranks", all}});
  }
  return worst;
}

}  // namespace

void add_run_command(CLI::App& app, Command& command) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* sub = add_subcommand(app, command, "run", "One process per rank of the local cluster",
                                 "fibocast run -n 3 -- ./my-program argument",
                                 [&command, options] { return run(command, *options); });
  sub->add_option("-n,--ranks", options->count, "ranks 0 to N-1; default: every daemon's")->check(positive_number());
  add_dir_option(*sub, options->dir);
  sub->add_option("program", options->program, "the program and its arguments, after --")->required();
}

}  // namespace fibocast
