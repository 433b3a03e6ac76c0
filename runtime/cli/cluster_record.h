// What `fibocast up` leaves behind for the other commands: the folder of a local cluster and its cluster.json.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/types.h"

namespace fibocast {

struct LocalNode {
  NodeId rank = 0;
  pid_t pid = 0;  // 0: not started yet (--hold)
  std::string address;
  std::string socket;
};

struct ClusterRecord {
  std::string transport, machine;
  double scale = 1;
  std::vector<LocalNode> nodes;  // by rank
};

// $XDG_RUNTIME_DIR/fibocast or /tmp/fibocast-UID.
std::string default_cluster_dir();
// The one name of this folder, which need not exist: relative paths, links and "." are resolved.
std::string canonical_dir(const std::string& dir);
// DIR/node-RANK.toml, .log, .sock
std::string node_path(const std::string& dir, NodeId rank, const std::string& extension);

// Nothing if there is no cluster.json in `dir`, or it is none of ours.
std::optional<ClusterRecord> read_cluster_record(const std::string& dir);
// Replaces the file as a whole: a reader never sees half of it. False, with errno set, if it cannot.
bool write_cluster_record(const std::string& dir, const ClusterRecord& record);
// Removes what `up` has written; other files in the folder stay.
void remove_cluster_files(const std::string& dir, const ClusterRecord& record);

}  // namespace fibocast
