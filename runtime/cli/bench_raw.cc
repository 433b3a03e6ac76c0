#include "runtime/cli/bench_raw.h"

#include <cerrno>
#include <cstring>
#include <iostream>

namespace fibocast {

Status RawValues::open(const std::string& path) {
  if (path.empty()) return {};
  if (path == "-") {
    out_ = &std::cout;
    return {};
  }
  file_.open(path);
  if (!file_) return invalid("cannot write " + path + ": " + std::strerror(errno));
  out_ = &file_;
  return {};
}

void RawValues::write(const Json& line) {
  if (out_) *out_ << line.dump() << std::endl;
}

Status RawValues::status() const {
  return file_ ? Status{} : Status{Code::kFailed, "cannot write all raw values to the file; is the disk full?", {}};
}

void add_raw_option(CLI::App& command, std::string& path) {
  command.add_option("--raw", path, "every repetition goes to this file, a line each; -: standard output");
}

}  // namespace fibocast
