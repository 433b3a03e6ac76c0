// The file that `fibocast trace` writes: the Chrome trace format (Perfetto and chrome://tracing open it), and beside
// the events an object "fibocast" with all that `fibocast simulate --replay` needs.
#pragma once

#include <vector>

#include "runtime/cli/command.h"
#include "runtime/cli/trace_story.h"

namespace fibocast {

// One process per rank; operations are slices, messages arrows between them. Times are microseconds of the hosts'
// monotonic clocks.
Json trace_file(const std::vector<NodeTrace>& traces, const TraceStory& story);

}  // namespace fibocast
