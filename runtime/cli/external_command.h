// A subcommand that `fibocast` does not have is a program fibocast-NAME beside it or on PATH, as in git.
#pragma once

#include <string>
#include <vector>

namespace fibocast {

// Runs it in place of this process; returns only if there is none, or it cannot be run.
void run_external_command(const std::string& name, const std::vector<std::string>& arguments);

}  // namespace fibocast
