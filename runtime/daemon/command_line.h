// The flags of fibocastd. Reads them, loads the settings, and does what ends at once (--help, --print-config, ...).
#pragma once

#include <optional>
#include <string>

#include "runtime/daemon/settings_loader.h"

namespace fibocast {

struct CommandLine {
  std::optional<int> exit_code;  // all is done: end with this
  std::string output;            // for standard output, or standard error if exit_code is not 0
  LoadedSettings loaded;
  std::string file;  // of --config, for the reload
  std::map<std::string, std::string> flags;
};

CommandLine read_command_line(int argc, const char* const* argv, const Environment& environment);

}  // namespace fibocast
