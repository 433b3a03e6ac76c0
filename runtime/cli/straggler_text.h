// Who comes last to barriers, as the commands print it.
#pragma once

#include <string>

#include "runtime/cli/command.h"

namespace fibocast {

// "rank 3 came last, 203.114 ms after the others", or that this is not known.
std::string straggler_sentence(const Straggler& straggler);
// A table with a line for each of GroupInfo::slowest; empty if there are none.
std::string slowest_text(const GroupInfo& group);
Json to_json(const Straggler& straggler);
Json to_json(const SlowRank& row);

}  // namespace fibocast
