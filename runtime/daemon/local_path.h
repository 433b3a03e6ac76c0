// Which nodes share memory with this one (transport/local_transport.h), and where they find each other.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "runtime/daemon/cluster_addresses.h"
#include "runtime/daemon/security.h"
#include "runtime/daemon/settings.h"
#include "transport/local_transport.h"

namespace fibocast {

// Where they are, unless cluster.local is "off". Memory, not a disk.
std::string local_folder(const Settings& settings);

// Names of inboxes: of the node's address, the cluster's name and its key, so that who lacks one of them finds nothing.
class InboxNames {
 public:
  // `keys`: null in a cluster without a key. The folder of the settings is in use by this cluster alone; that of the
  // user is not, and there a name is also of the network namespace, where an address belongs to one node only.
  InboxNames(const Settings& settings, const KeyRing* keys);
  // Hexadecimal digits.
  std::string of(const NodeAddress& node) const;

 private:
  std::string cluster_;
  std::vector<unsigned char> key_;
};

struct LocalPath {
  std::unique_ptr<LocalTransport> transport;  // null: there is none
  std::function<void(NodeId peer, const NodeAddress&)> move_peer;
};

// In front of `inner`, which outlives it. None with cluster.local = "off", when no node of the cluster can share memory
// with this one, while [faults] or [emulation] need every frame to pass the sockets, or, told to `warn`, when the
// folder cannot be used.
LocalPath make_local_path(boost::asio::io_context& io, Transport& inner, const Settings& settings,
                          const std::vector<NodeAddress>& nodes, const KeyRing* keys, std::uint64_t incarnation,
                          const RefusalLog::Say& warn);

}  // namespace fibocast
