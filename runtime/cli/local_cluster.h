// Starts and stops the daemons of a local cluster: what `up` and `down` do, without their options and words.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "runtime/cli/cluster_record.h"
#include "runtime/cli/node_file.h"
#include "runtime/client/participant.h"

namespace fibocast {

struct StartRequest {
  NodeFileRequest files;  // without addresses
  std::string machine_name;
  std::uint32_t nodes = 0;
  std::set<NodeId> hold;  // written down, not started
  Duration deadline{};
  // Called again and again: of `nodes` started ones so many are connected to all the others. False: give up.
  std::function<bool(std::uint32_t connected, std::uint32_t nodes)> progress;
};

// Returns when all started nodes are connected to one another. After a failure nothing is left of them.
Status start_cluster(StartRequest request);
// Starts one that was held back; returns when it is connected to all that run. After a failure only it is gone.
Status start_held_node(const std::string& dir, NodeId rank, Duration deadline);

struct Stopped {
  std::uint32_t daemons = 0;  // that were running
  std::uint32_t killed = 0;   // that had to be killed
};
// A daemon that answers where one of so many would, and is not of the folder's record.
std::optional<LocalNode> find_unrecorded(const std::string& dir, std::uint32_t nodes);
// A daemon of the record that was started with another file than the one in `dir`, as if the folder was moved since.
std::optional<LocalNode> find_stranger(const std::string& dir, const ClusterRecord& record);
// SIGTERM, and SIGKILL after 3 s, to those processes that are really daemons of this cluster; then its files go.
Stopped stop_cluster(const std::string& dir, const ClusterRecord& record);

// Does one of its daemons run?
bool is_running(const std::string& dir, const ClusterRecord& record);
bool is_running(const std::string& dir, const LocalNode& node);

}  // namespace fibocast
