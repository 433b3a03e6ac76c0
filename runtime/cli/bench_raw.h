// Raw values of `fibocast bench`, one JSON object a line, to the file of --raw or to standard output.
#pragma once

#include <fstream>
#include <string>

#include "runtime/cli/command.h"

namespace fibocast {

class RawValues {
 public:
  // "-": standard output; empty: nowhere. kInvalid if the file cannot be written.
  Status open(const std::string& path);
  // A line, at once.
  void write(const Json& line);
  // Have all lines been written to the file?
  Status status() const;

 private:
  std::ofstream file_;
  std::ostream* out_ = nullptr;
};

// --raw FILE
void add_raw_option(CLI::App& command, std::string& path);

}  // namespace fibocast
