#include "runtime/cli/process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace fibocast {
namespace {

bool is_program(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

// All signals as a fresh program expects them.
void reset_signals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void redirect(int descriptor, const char* path, int flags) {
  const int file = open(path, flags | O_CLOEXEC, 0644);
  if (file >= 0) dup2(file, descriptor);
}

// Of a fibocastd, its name first; of any other process none. It may end while we read: getline() only says that there
// is no more.
std::vector<std::string> daemon_arguments(pid_t pid) {
  std::vector<std::string> arguments;
  if (pid <= 0) return arguments;
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  if (!arguments.empty() && !arguments.front().ends_with("fibocastd")) arguments.clear();
  return arguments;
}

// Below those that the system gives to connections: who is started later, or anew, would find his taken by one.
constexpr std::uint16_t kFirstPort = 10'000, kLastPort = 32'767;

// Both a UDP and a TCP socket bound to one port of the loopback: held until all ports are found.
struct PortHolder {
  int udp = -1, tcp = -1;
  PortHolder() = default;
  PortHolder(PortHolder&& other) noexcept : udp(std::exchange(other.udp, -1)), tcp(std::exchange(other.tcp, -1)) {}
  ~PortHolder() {
    if (udp >= 0) close(udp);
    if (tcp >= 0) close(tcp);
  }
  // False: somebody has it, for one of the two protocols.
  bool take(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    const auto* raw = reinterpret_cast<const sockaddr*>(&address);
    udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return bind(udp, raw, sizeof address) == 0 && bind(tcp, raw, sizeof address) == 0;
  }
};

}  // namespace

std::string find_program(const std::string& name) {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (const std::string beside = (self.parent_path() / name).string(); is_program(beside)) return beside;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string found = folder + "/" + name; is_program(found)) return found;
  return {};
}

void execute(const std::vector<std::string>& arguments, const ExtraEnvironment& extra) {
  for (const auto& [key, value] : extra) setenv(key.c_str(), value.c_str(), 1);
  std::vector<char*> raw;
  for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  execvp(raw[0], raw.data());
}

pid_t start_detached(const std::vector<std::string>& arguments, const std::string& log_path) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  reset_signals();
  setsid();
  redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  redirect(STDOUT_FILENO, log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND);
  dup2(STDOUT_FILENO, STDERR_FILENO);
  execute(arguments);
  _exit(127);
}

pid_t start_child(const std::vector<std::string>& arguments, const ExtraEnvironment& extra, bool own_group) {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid >= 0 && own_group) setpgid(pid, 0);  // on both sides: neither may go on before it is done
  if (pid != 0) return pid;
  reset_signals();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // it died before we could ask for the signal
  execute(arguments, extra);
  const std::string why = "fibocast: cannot run " + arguments[0] + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, why.data(), why.size());
  _exit(127);
}

bool is_daemon_of(pid_t pid, const std::string& config_path) {
  const std::vector<std::string> arguments = daemon_arguments(pid);
  return std::find(arguments.begin(), arguments.end(), config_path) != arguments.end();
}

bool is_daemon(pid_t pid) { return !daemon_arguments(pid).empty(); }

std::string last_line(const std::string& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) last = line;
  return last;
}

std::vector<std::string> free_loopback_addresses(std::size_t count) {
  std::mt19937 random(std::random_device{}());
  std::uniform_int_distribution<std::uint16_t> ports(kFirstPort, kLastPort);
  std::vector<PortHolder> held;
  std::vector<std::string> addresses;
  for (std::size_t tries = 0; addresses.size() < count && tries < 10 * count; ++tries) {
    held.emplace_back();
    const std::uint16_t port = ports(random);
    if (held.back().take(port)) addresses.push_back("127.0.0.1:" + std::to_string(port));
  }
  if (addresses.size() < count) addresses.clear();
  return addresses;
}

}  // namespace fibocast
