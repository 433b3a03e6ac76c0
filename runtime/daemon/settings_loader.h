// Where the settings of a daemon come from: flags, environment, file, defaults, in this order of precedence. A mistake
// is one sentence: where, what was found, what is allowed.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/daemon/settings.h"

namespace fibocast {

// The one sentence. Only while starting up.
struct SettingsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Environment = std::function<const char*(const char*)>;  // getenv, or a table in tests

struct LoadedSettings {
  Settings settings;
  std::map<std::string, std::string> origins;  // key -> "node.toml:3"; keys that are not here: the default
  std::string origin_of(const std::string& key) const;
};

// What the texts of the flags mean. `flags`: key -> text. `path`: the file, or empty. Throws SettingsError.
LoadedSettings load_settings(const std::string& path, const Environment& environment,
                             const std::map<std::string, std::string>& flags);

// Throws SettingsError if a daemon must not run with these: find_security_mistake().
void check_security(const LoadedSettings& loaded);

// All settings as a file, each with where it came from; may be used as a file again.
std::string print_settings(const LoadedSettings& loaded);

}  // namespace fibocast
