#include "runtime/daemon/log.h"

#include <spdlog/sinks/stdout_sinks.h>

#include <cstdio>

namespace fibocast {
namespace {

std::string json_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    char code[8];
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Log::Log(const Settings::LogSection& settings, NodeId rank)
    : logger_(std::make_shared<spdlog::logger>("fibocastd", std::make_shared<spdlog::sinks::stderr_sink_mt>())),
      json_(settings.format == LogFormat::kJson) {
  const bool known = rank != kNoNode;
  const std::string r = known ? std::to_string(rank) : json_ ? "null" : "?";
  if (json_)
    logger_->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","rank":)" + r + R"(,"message":"%v"})");
  else
    logger_->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l rank " + r + ": %v");
  logger_->flush_on(spdlog::level::trace);
  set_level(settings.level);
}

void Log::set_level(const std::string& level) { logger_->set_level(spdlog::level::from_str(level)); }

void Log::write(spdlog::level::level_enum level, const std::string& sentence) {
  if (logger_->should_log(level)) logger_->log(level, "{}", json_ ? json_escaped(sentence) : sentence);
}

}  // namespace fibocast
