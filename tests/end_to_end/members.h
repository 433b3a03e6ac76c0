// Sixteen real daemons on this host, an application at each, and what they do together.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "tests/end_to_end/programs.h"

namespace fibocast {

inline constexpr NodeId kNodes = 16;

inline const int kLosses = times_or(6);  // of a daemon each, in one test

class Members {
 public:
  using Part = std::function<Status(Group&)>;

  // `fibocast up` with these options beside the number of nodes; every member opens the group of all.
  void up(const std::string& transport, Words options = {});
  void connect(NodeId rank);
  // Everybody but `absent` (kNodes: nobody is) at a time; `meanwhile` happens when the calls are under way or about to
  // be. How it ended, by rank.
  std::vector<Status> together(
      NodeId absent, const Part& part, const std::function<void()>& meanwhile = [] {});
  std::vector<Status> barrier(
      NodeId absent, const std::function<void()>& meanwhile = [] {});
  // Every daemon has a connection to every other one, and believes none of them to be lost.
  bool all_connected();
  // A counter of `fibocast status`, summed over all daemons.
  std::uint64_t sum_of(const std::string& counter);
  void send_signal(NodeId rank, int signal) const;

  TestCluster cluster_;
  std::shared_ptr<Client> clients_[kNodes];
  std::unique_ptr<Group> groups_[kNodes];
  pid_t pids_[kNodes] = {};
};

}  // namespace fibocast
