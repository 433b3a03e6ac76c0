// The one table of settings: name, flag, help, how a text becomes the value and back. File, environment, flags, help
// and --print-config all read it, so that a setting is added in one place.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/daemon/settings.h"

namespace fibocast {

enum class SettingKind : std::uint8_t { kText, kInteger, kReal, kFlag, kList };  // what TOML must have there

struct SettingField {
  std::string key;         // "node.rank": section and name in the file
  std::string short_flag;  // "--rank", or empty: only --node.rank
  SettingKind kind = SettingKind::kText;
  std::string help;                                        // one line
  std::string allowed;                                     // "0 to 255"; part of the sentence when the value is not
  std::function<bool(Settings&, const std::string&)> set;  // false: not allowed. Lists: separated by commas
  std::function<std::string(const Settings&)> print;       // as TOML
  std::string environment() const;                         // "FIBOCAST_NODE_RANK"
};

std::span<const SettingField> setting_fields();
const SettingField* find_setting(std::string_view key);
// The key most like `key`, for "did you mean".
std::string nearest_setting(std::string_view key);

}  // namespace fibocast
