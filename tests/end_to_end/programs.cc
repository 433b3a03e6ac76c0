#include "tests/end_to_end/programs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

namespace fibocast {
namespace {

const std::string kPrograms = FIBOCAST_BINARY_DIR "/bin";

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void redirect(int descriptor, const std::string& path, int flags) {
  const int file = open(path.c_str(), flags, 0600);
  dup2(file, descriptor);
  close(file);
}

[[noreturn]] void become(const Words& words, const std::string& prefix) {
  redirect(STDIN_FILENO, prefix + "in", O_RDONLY);
  redirect(STDOUT_FILENO, prefix + "out", O_WRONLY | O_CREAT | O_TRUNC);
  redirect(STDERR_FILENO, prefix + "err", O_WRONLY | O_CREAT | O_TRUNC);
  unsetenv("FIBOCAST_SOCKET");
  setenv("SHELL", "/bin/sh", 1);
  setenv("PATH", (kPrograms + ":" + getenv("PATH")).c_str(), 1);
  std::vector<char*> raw;
  for (const std::string& word : words) raw.push_back(const_cast<char*>(word.c_str()));
  raw.push_back(nullptr);
  execvp(raw[0], raw.data());
  _exit(127);
}

}  // namespace

Words up_over(const std::string& transport, NodeId nodes) {
  Words words = {"-n", std::to_string(nodes)};
  if (transport != "memory") words.insert(words.end(), {"--transport", transport});
  return words;
}

Running::Running(const Words& words, const std::string& input, const std::string& folder) {
  static std::atomic<int> number = 0;
  prefix_ = folder + "/run-" + std::to_string(++number) + "-";
  std::ofstream(prefix_ + "in", std::ios::binary) << input;
  pid_ = fork();
  if (pid_ == 0) become(words, prefix_);
}

Running::Running(Running&& other) noexcept : pid_(std::exchange(other.pid_, -1)), prefix_(std::move(other.prefix_)) {}

Running::~Running() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

Ended Running::wait() {
  int how = 0;
  waitpid(std::exchange(pid_, -1), &how, 0);
  return {WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how), read_file(prefix_ + "out"),
          read_file(prefix_ + "err")};
}

TestCluster::TestCluster() {
  std::string name = (std::filesystem::temp_directory_path() / "fibocast-test-XXXXXX").string();
  folder_ = mkdtemp(name.data());
  dir_ = folder_ + "/cluster";
}

TestCluster::~TestCluster() {
  if (testing::Test::HasFailure()) {  // the daemons' last words belong to the failure
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
      if (entry.path().extension() == ".log")
        std::cerr << entry.path() << ":\n" << read_file(entry.path()).substr(0, 4000);
  }
  run({"down"});
  std::filesystem::remove_all(folder_);
}

Running TestCluster::start(Words words, const std::string& input) {
  words.insert(words.begin(), "fibocast");
  const std::size_t at = words[1] == "group" || words[1] == "bench" || words[1] == "key" ? 3 : 2;
  const bool asks_cluster = words[1] != "simulate";
  if (asks_cluster) words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), {"--dir", dir_});
  return Running(words, input, folder_);
}

Ended TestCluster::run(Words words, const std::string& input) { return start(std::move(words), input).wait(); }

Ended TestCluster::shell(const std::string& line) {
  return Running({"sh", "-c", "cd " + folder_ + "; DIR=" + dir_ + "; " + line}, {}, folder_).wait();
}

std::string TestCluster::key_file() {
  const std::string path = file("key");
  if (!std::filesystem::exists(path)) {
    const Ended made = Running({"fibocast", "key", "generate", path}, {}, folder_).wait();
    EXPECT_EQ(made.exit_code, 0) << made.err;
  }
  return path;
}

void TestCluster::up(Words options) {
  options.insert(options.begin(), {"up", "--quiet"});
  const Ended ended = run(options);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
}

std::shared_ptr<Client> TestCluster::client(NodeId rank, const std::string& program) {
  Client::Options options;
  options.socket_path = dir_ + "/node-" + std::to_string(rank) + ".sock";
  options.program = program;
  auto client = Client::connect(options);
  if (!client.ok()) {
    ADD_FAILURE() << client.status().sentence;
    return nullptr;
  }
  return *client;
}

std::uint64_t TestCluster::sum(NodeId nodes, std::uint64_t PeerInfo::*counter) {
  std::uint64_t sum = 0;
  for (NodeId rank = 0; rank < nodes; ++rank) {
    auto info = client(rank)->status();
    EXPECT_TRUE(info.ok()) << info.status().sentence;
    if (!info.ok()) return sum;
    for (const PeerInfo& peer : info->peers) sum += peer.*counter;
  }
  return sum;
}

void create_work(const std::string& policy, std::span<const std::shared_ptr<Client>> clients,
                 std::span<std::unique_ptr<Group>> groups) {
  GroupRequest request;
  request.name = "work", request.policy = policy;
  for (NodeId rank = 0; rank < clients.size(); ++rank) request.nodes.push_back(rank);
  const Status created = clients[0]->create_group(request);
  ASSERT_TRUE(created.ok()) << created.sentence;
  for (NodeId rank = 0; rank < clients.size(); ++rank) {
    auto group = clients[rank]->open(request.name);
    ASSERT_TRUE(group.ok()) << group.status().sentence;
    groups[rank] = std::make_unique<Group>(std::move(*group));
  }
}

int times_or(int usual) {
  const char* times = std::getenv("FIBOCAST_TEST_TIMES");
  return times == nullptr ? usual : std::atoi(times);
}

bool has_ended(pid_t pid) { return read_file("/proc/" + std::to_string(pid) + "/cmdline").empty(); }

bool eventually(const std::function<bool()>& is_so) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace fibocast
