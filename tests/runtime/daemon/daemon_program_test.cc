// The program fibocastd: exit codes, signals, its one sentence.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "tests/runtime/daemon/cluster_fixture.h"

namespace fibocast {
namespace {

class DaemonProgram : public ClusterTest {
 protected:
  DaemonProgram() : address_(free_address()), path_(folder_ / "d.sock") {}

  // Starts fibocastd; what it says on standard error is read from `from_`.
  pid_t spawn(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"--nodes", address_, "--listen", address_, "--socket", path_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return spawn_with(arguments);
  }
  pid_t spawn_with(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), FIBOCAST_DAEMON);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    int ends[2];
    if (pipe(ends) != 0) return -1;
    const pid_t pid = fork();
    if (pid == 0) {
      dup2(ends[1], STDERR_FILENO);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(ends[1]);
    from_ = fdopen(ends[0], "r");
    return pid;
  }
  std::string line() {
    char text[1000] = "";
    return fgets(text, sizeof text, from_) ? text : "";
  }
  int exit_code(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    fclose(from_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string address_, path_;
  FILE* from_ = nullptr;
};

TEST_F(DaemonProgram, SigtermDrainsAndEndsWellSighupStays) {
  const pid_t pid = spawn();
  EXPECT_NE(line().find("listens on " + address_), std::string::npos);
  RawClient client(path_);
  kill(pid, SIGHUP);
  EXPECT_NE(line().find("reloaded: log.level is info"), std::string::npos);
  EXPECT_EQ(client.barrier("gate").status().code(), client::CODE_OK);
  kill(pid, SIGTERM);
  EXPECT_TRUE(client.closed_by_daemon());
  EXPECT_EQ(exit_code(pid), 0);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(DaemonProgram, NodesAreAddedAtTheEndOfTheListOrNotAtAll) {
  const std::string file = folder_ / "d.toml", other = free_address();
  const auto write = [&](const std::string& nodes) {
    std::ofstream(file) << "[node]\nrank = 0\n[cluster]\nnodes = [" << nodes << "]\n";
  };
  const std::string own = '"' + address_ + '"', added = ", \"" + other + '"';
  write(own);
  std::vector<std::string> arguments = {"--config", file, "--socket", path_};
  const pid_t pid = spawn_with(arguments);
  EXPECT_NE(line().find("1 nodes"), std::string::npos);
  write(own + added);
  kill(pid, SIGHUP);
  EXPECT_NE(line().find("reloaded: log.level is info, 2 nodes"), std::string::npos);
  EXPECT_NE(line().find("rank 1 (" + other + ") is at "), std::string::npos);
  write(own);
  kill(pid, SIGHUP);
  EXPECT_NE(line().find("add nodes at its end only"), std::string::npos);
  kill(pid, SIGTERM);
  EXPECT_EQ(exit_code(pid), 0);
}

TEST_F(DaemonProgram, ASocketInUseIsOneSentenceAndExitCode2) {
  const pid_t first = spawn();
  EXPECT_NE(line(), "");
  RawClient client(path_);
  FILE* first_log = from_;
  address_ = free_address();
  const pid_t second = spawn();
  EXPECT_NE(line().find("a living daemon already listens on " + path_), std::string::npos);
  EXPECT_EQ(exit_code(second), 2);
  from_ = first_log;
  kill(first, SIGTERM);
  EXPECT_EQ(exit_code(first), 0);
}

TEST_F(DaemonProgram, AMistakeIsExitCode2) {
  const pid_t pid = spawn({"--wait", "sleep"});
  EXPECT_EQ(line(), "fibocastd: flag --runtime.wait: runtime.wait is 'sleep'; allowed: adaptive, block, poll\n");
  EXPECT_EQ(exit_code(pid), 2);
}

TEST_F(DaemonProgram, WithoutAKeyItDoesNotListenForOthers) {
  const pid_t pid = spawn_with({"--nodes", address_, "--listen", "0.0.0.0:0", "--socket", path_});
  const std::string sentence = line();
  EXPECT_NE(sentence.find("security.key_file is not set, but others could reach"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("fibocast key generate"), std::string::npos) << sentence;
  EXPECT_EQ(exit_code(pid), 2);
}

TEST_F(DaemonProgram, InsecureIsLoud) {
  const pid_t pid = spawn({"--insecure"});
  EXPECT_NE(line().find("listens on"), std::string::npos);
  const std::string loud = line();
  EXPECT_NE(loud.find("warning"), std::string::npos) << loud;
  EXPECT_NE(loud.find("INSECURE: no key; WHOEVER REACHES " + address_), std::string::npos) << loud;
  RawClient client(path_);
  client::Request request;
  request.mutable_get_status();
  EXPECT_TRUE(client.call(request).node_status().security().starts_with("INSECURE"));
  kill(pid, SIGTERM);
  EXPECT_EQ(exit_code(pid), 0);
}

// Its keys are read again with SIGHUP; with a bad file they stay. Neither the log nor the settings have a key in them.
TEST_F(DaemonProgram, KeysAreReadAgainAndNeverSaid) {
  const std::string file = folder_ / "key", ones(64, '1'), twos(64, '2');
  const auto write = [&](const std::string& text) {
    std::ofstream(file) << text;
    std::filesystem::permissions(file, std::filesystem::perms(0600));
  };
  write("primary " + ones + "\n");
  const pid_t pid = spawn({"--key-file", file});
  std::string said = line();
  const auto expect = [&](const std::string& words) {
    const std::string next = line();
    EXPECT_NE(next.find(words), std::string::npos) << next;
    said += next;
  };
  expect("sealed, key ");
  RawClient client(path_);
  write("primary " + twos + "\naccepted " + ones + "\n");
  kill(pid, SIGHUP);
  expect("the keys are read again: sealed, key ");
  expect("reloaded");
  write("primary " + ones.substr(1) + "\n");
  kill(pid, SIGHUP);
  expect("the keys stay as they were: security.key_file: " + file + ": line 1 is not");
  expect("reloaded");
  kill(pid, SIGTERM);
  EXPECT_EQ(exit_code(pid), 0);
  EXPECT_EQ(said.find("1111"), std::string::npos) << said;
  EXPECT_EQ(said.find("2222"), std::string::npos) << said;
}

TEST_F(DaemonProgram, AKeyThatOthersMayReadIsRefused) {
  const std::string file = folder_ / "key";
  std::ofstream(file) << "primary " << std::string(64, '1') << "\n";
  std::filesystem::permissions(file, std::filesystem::perms(0640));
  const pid_t pid = spawn({"--key-file", file});
  EXPECT_EQ(line(), "fibocastd: security.key_file: " + file +
                        ": has mode 0640, so others may read the key; allowed: 0600, by chmod 600 " + file + "\n");
  EXPECT_EQ(exit_code(pid), 2);
}

TEST_F(DaemonProgram, LogsJson) {
  const pid_t pid = spawn({"--log.format", "json"});
  const std::string first = line();
  EXPECT_TRUE(first.starts_with("{\"time\":\"")) << first;
  EXPECT_TRUE(first.ends_with("'fibocast'\"}\n")) << first;
  RawClient client(path_);
  kill(pid, SIGINT);
  EXPECT_EQ(exit_code(pid), 0);
}

}  // namespace
}  // namespace fibocast
