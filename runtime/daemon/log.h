// The daemon's log: one line each on standard error, as text or as JSON, with the rank in it. Nothing on the hot path
// logs. Thread-safe, because tests run several daemons in one process.
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string>

#include "runtime/daemon/settings.h"

namespace fibocast {

class Log {
 public:
  Log(const Settings::LogSection& settings, NodeId rank);  // kNoNode: not known yet
  void debug(const std::string& sentence) { write(spdlog::level::debug, sentence); }
  void info(const std::string& sentence) { write(spdlog::level::info, sentence); }
  void warning(const std::string& sentence) { write(spdlog::level::warn, sentence); }
  void error(const std::string& sentence) { write(spdlog::level::err, sentence); }
  // One of the names of log.level.
  void set_level(const std::string& level);

 private:
  void write(spdlog::level::level_enum level, const std::string& sentence);

  std::shared_ptr<spdlog::logger> logger_;
  bool json_;
};

}  // namespace fibocast
