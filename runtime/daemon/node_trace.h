// What `fibocast trace` gets of a daemon.
#pragma once

#include "runtime/daemon/settings.h"
#include "runtime/node/node.h"
#include "runtime/wire/client.pb.h"

namespace fibocast {

// As many events from number `first` on as one response takes; all, and groups described anew, if `first` is 0.
void fill_trace(Node& node, const Settings& settings, std::uint64_t first, Nanoseconds now, client::Trace& trace);

}  // namespace fibocast
