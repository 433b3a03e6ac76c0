// What is said of a daemon that is older than others of its cluster.
#pragma once

#include <string>

#include "runtime/client/client.h"

namespace fibocast {

// Empty if none of them has named what its version does not know.
std::string newer_daemons_text(const NodeInfo& node);

}  // namespace fibocast
