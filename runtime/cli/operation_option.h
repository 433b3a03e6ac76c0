// The options of the commands that take part in one operation of a group.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "runtime/cli/command.h"

namespace fibocast {

struct OperationChoice {
  DaemonChoice daemon;
  std::string name;  // GROUP or GROUP/LABEL
  std::uint32_t participants = 0;
  std::string deadline;  // empty: the daemon's default
  std::string label;

  std::string group() const { return name.substr(0, name.find('/')); }
  std::string label_text() const;
  Duration deadline_time() const;
};

void add_operation_options(CLI::App& app, OperationChoice& choice);
struct InputBounds {
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();  // no more are read
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
};
// All bytes of the file, or of standard input (-). kInvalid: it cannot be read, and why; kDeadlineExceeded.
Result<std::string> read_input(const std::string& path, const InputBounds& bounds = {});
// What an operation sends, for `deadline` (zero: the daemon's default), which becomes shorter by the time that takes.
// Where there is more than the daemon takes it is one byte more, which the client refuses.
Result<std::string> read_payload(const std::string& path, const Client& client, Duration& deadline);
// Prints how it went (--json: times and generation too; a payload as its number of bytes); gives the exit code.
// `values`: a JSON array of the result's numbers; null: none.
int report_outcome(const Command& command, const Outcome& outcome, const Json& values = Json());

}  // namespace fibocast
