// What `fibocast status` shows of a daemon.
#pragma once

#include "runtime/daemon/settings.h"
#include "runtime/node/node.h"
#include "runtime/wire/client.pb.h"

namespace fibocast {

// All but the transport's counters and the local clients.
void fill_node_status(const Node& node, const Settings& settings, client::NodeStatus& status);

}  // namespace fibocast
