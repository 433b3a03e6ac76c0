// Drives the real programs as a person would: runs `fibocast` in a folder of its own, feeds it, reads what it says.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "runtime/client/client.h"

namespace fibocast {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

// Of `fibocast up`: so many daemons over "udp", "tcp", or "memory": what they do when nothing is said.
Words up_over(const std::string& transport, NodeId nodes);

inline constexpr auto kPatience = std::chrono::seconds(60);  // far more than it takes: a hang is told by its code

struct Ended {
  int exit_code = -1;  // 128 + signal if it was killed
  std::string out, err;
  Json json() const { return Json::parse(out); }
};

// A program that runs beside the test. Killed when it goes out of scope.
class Running {
 public:
  Running(const Words& words, const std::string& input, const std::string& folder);
  ~Running();
  Running(Running&& other) noexcept;
  Running& operator=(Running&&) = delete;
  pid_t pid() const { return pid_; }
  // Waits for its end.
  Ended wait();

 private:
  pid_t pid_ = -1;
  std::string prefix_;  // of the files that hold its input and output
};

// A local cluster in a temporary folder; taken down and removed at the end.
class TestCluster {
 public:
  TestCluster();
  ~TestCluster();
  TestCluster(const TestCluster&) = delete;
  TestCluster& operator=(const TestCluster&) = delete;

  const std::string& dir() const { return dir_; }
  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  // `fibocast` with these words and --dir added behind its subcommand (`simulate` needs no cluster).
  Ended run(Words words, const std::string& input = {});
  Running start(Words words, const std::string& input = {});
  // A line of the shell in the folder above the cluster's, whose path is $DIR.
  Ended shell(const std::string& line);
  // A file with a new key, made at the first call.
  std::string key_file();
  // `fibocast up` with these options; fails the test if it fails.
  void up(Words options);
  // A client of one daemon; fails the test if there is none.
  std::shared_ptr<Client> client(NodeId rank, const std::string& program = "test");
  // One counter, summed over all daemons and their peers.
  std::uint64_t sum(NodeId nodes, std::uint64_t PeerInfo::*counter);

 private:
  std::string folder_, dir_;
};

// Creates the group `work` of the nodes 0, 1, ... of these clients, and opens it at each; fails the test if it fails.
void create_work(const std::string& policy, std::span<const std::shared_ptr<Client>> clients,
                 std::span<std::unique_ptr<Group>> groups);
// How often, or for how many seconds, a test does what it does: FIBOCAST_TEST_TIMES of the environment, else `usual`.
int times_or(int usual);
// A process that has ended may wait for its parent (init) to collect it: then it has no command line any more.
bool has_ended(pid_t pid);
// Looks every few milliseconds until it is so; false after a minute.
bool eventually(const std::function<bool()>& is_so);

}  // namespace fibocast
