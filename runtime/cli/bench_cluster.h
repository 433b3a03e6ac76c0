// One client for each daemon of a local cluster, in one process and on one event loop: operations of a whole group
// can be started at once and their outcomes collected. What the measured loops of `fibocast bench` stand on.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/client/client.h"

namespace fibocast {

class BenchCluster {
 public:
  // One group as each of its members sees it, by rank.
  struct Member {
    Group group;
    NodeId node = 0;
    ClockOffset clock;  // of its daemon: times of outcomes are made ours, not_before is made its own
  };
  using Members = std::vector<Member>;

  // From then on SIGINT and SIGTERM end create_group() and run() with kCancelled, so that whoever has created groups
  // removes them.
  // Connects to every daemon of the cluster in `dir`; with a socket, to the daemon there and through it to all others.
  Status connect(const std::string& dir, const std::string& socket = {});
  Client& client(NodeId node) { return *clients_[node]; }
  // The largest error of a time on another host's clock, now; 0: all have ours.
  Nanoseconds clock_bound() const;
  std::uint32_t size() const { return static_cast<std::uint32_t>(clients_.size()); }
  // By the group's first member, then opened by all of them. Precondition: its nodes are below size().
  Result<Members> create_group(const GroupRequest& request);
  // The group of this name at each of its members; one that no daemon knows yet is the group of all.
  Result<Members> open_group(const std::string& name);
  Status remove_group(const std::string& name, NodeId member = 0);
  // Starts one operation at every member; the outcomes by rank, when all have ended. Their times are of our clock.
  using Start = std::function<void(Member& member, std::function<void(Outcome)> done)>;
  std::vector<Outcome> run(Members& members, const Start& start);
  std::vector<Outcome> barrier(Members& members, Duration deadline, const OperationOptions& options);
  // Frames that all daemons together have sent again so far.
  Result<std::uint64_t> resends();

 private:
  Status connect_to(const Client::Options& options);
  Result<std::vector<NodeId>> members_of(const std::string& name);
  Result<Members> open(const std::string& name, const std::vector<NodeId>& nodes);

  boost::asio::io_context context_{1};
  std::vector<std::shared_ptr<Client>> clients_;  // by node
  std::vector<ClockOffset> clocks_;
};

// The first outcome that is not ok, else ok.
Status worst_of(const std::vector<Outcome>& outcomes);

}  // namespace fibocast
