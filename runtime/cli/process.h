// Processes that `fibocast` starts and stops: daemons in the background, one program per rank in the foreground.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace fibocast {

using ExtraEnvironment = std::vector<std::pair<std::string, std::string>>;  // added to ours

// A program of this name beside this one, else on PATH; empty if there is none.
std::string find_program(const std::string& name);
// Replaces this process. Returns only on failure, with errno set.
void execute(const std::vector<std::string>& arguments, const ExtraEnvironment& extra = {});

// In its own session, output appended to `log_path`, no input: outlives us. -1 with errno set on failure.
pid_t start_detached(const std::vector<std::string>& arguments, const std::string& log_path);
// In the foreground; dies with us. Of a SIGKILL that ends us the system tells it alone: what it has started goes on, as
// behind any shell. In a process group of its own, so that one signal reaches all that it starts, or in ours, where a
// terminal's signals reach it. -1 with errno set on failure.
pid_t start_child(const std::vector<std::string>& arguments, const ExtraEnvironment& extra, bool own_group);

// Is `pid` alive and a fibocastd that was started with this settings file? A number that was given to somebody else
// since is not, nor is one that has ended and waits to be collected.
bool is_daemon_of(pid_t pid, const std::string& config_path);
// ... with any settings file.
bool is_daemon(pid_t pid);

// The last line that is not empty; empty if there is none.
std::string last_line(const std::string& path);

// Addresses "127.0.0.1:PORT" that nobody uses at the moment, neither UDP nor TCP, and that Linux gives to no connection
// unless it was told to; empty if the system has too few.
std::vector<std::string> free_loopback_addresses(std::size_t count);

}  // namespace fibocast
