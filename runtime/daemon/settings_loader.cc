#include "runtime/daemon/settings_loader.h"

#include <toml++/toml.h>

#include <filesystem>
#include <sstream>

#include "runtime/daemon/settings_fields.h"

namespace fibocast {
namespace {

std::string as_found(const std::string& text) { return std::string("'").append(text).append("'"); }

void set_one(LoadedSettings& loaded, const SettingField& field, const std::string& value, const std::string& origin) {
  if (!field.set(loaded.settings, value))
    throw SettingsError(origin + ": " + field.key + " is " + as_found(value) + "; allowed: " + field.allowed);
  loaded.origins[field.key] = origin;
}

// -- the file

std::string at_line(std::string path, std::uint32_t line) {
  if (line > 0) path.append(":").append(std::to_string(line));  // 0: the file as a whole cannot be read
  return path;
}

std::string list_text(const toml::array& array) {
  std::string list;
  for (const toml::node& entry : array) {
    if (!entry.is_string()) return "";
    list += (list.empty() ? "" : ",") + entry.as_string()->get();
  }
  return list;
}

// The value as the field's set() takes it; nothing if it is of another type.
std::optional<std::string> value_text(const toml::node& node, SettingKind kind) {
  std::ostringstream out;
  switch (kind) {
    case SettingKind::kText: return node.value<std::string>();
    case SettingKind::kList: return node.is_array() ? std::optional(list_text(*node.as_array())) : std::nullopt;
    case SettingKind::kFlag:
      return node.is_boolean() ? std::optional(*node.value<bool>() ? "true" : "false") : std::nullopt;
    case SettingKind::kInteger:
      if (!node.is_integer()) return {};
      out << *node.value<std::int64_t>();
      return out.str();
    case SettingKind::kReal:
      if (!node.is_number()) return {};
      out << *node.value<double>();
      return out.str();
  }
  return {};
}

std::string node_text(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& value) { out << value; });
  return out.str();
}

void set_from_node(LoadedSettings& loaded, const std::string& key, const toml::node& node, const std::string& path) {
  const std::string origin = at_line(path, node.source().begin.line);
  const SettingField* field = find_setting(key);
  if (!field)
    throw SettingsError(origin + ": there is no setting " + as_found(key) + "; the nearest is '" +
                        nearest_setting(key) + "'");
  const auto value = value_text(node, field->kind);
  if (!value) throw SettingsError(origin + ": " + key + " is " + node_text(node) + "; allowed: " + field->allowed);
  set_one(loaded, *field, *value, origin);
}

void set_from_file(LoadedSettings& loaded, const std::string& path) try {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw SettingsError(path + ": is a folder; give the file in it");
  const toml::table file = toml::parse_file(path);
  for (const auto& [section, node] : file) {
    const std::string name(section.str());
    if (!node.is_table()) {
      set_from_node(loaded, name, node, path);
      continue;
    }
    for (const auto& [key, value] : *node.as_table())
      set_from_node(loaded, name + "." + std::string(key.str()), value, path);
  }
} catch (const toml::parse_error& error) {
  throw SettingsError(at_line(path, error.source().begin.line) + ": " + std::string(error.description()));
}

[[noreturn]] void refuse(const LoadedSettings& loaded, const SettingsMistake& mistake) {
  throw SettingsError(loaded.origin_of(mistake.key) + ": " + mistake.key + " " + mistake.sentence);
}

}  // namespace

std::string LoadedSettings::origin_of(const std::string& key) const {
  const auto it = origins.find(key);
  return it == origins.end() ? "default" : it->second;
}

LoadedSettings load_settings(const std::string& path, const Environment& environment,
                             const std::map<std::string, std::string>& flags) {
  LoadedSettings loaded;
  if (!path.empty()) set_from_file(loaded, path);
  for (const SettingField& field : setting_fields())
    if (const char* value = environment(field.environment().c_str()))
      set_one(loaded, field, value, "environment " + field.environment());
  for (const auto& [key, value] : flags) set_one(loaded, *find_setting(key), value, "flag --" + key);
  if (const auto mistake = complete_settings(loaded.settings)) refuse(loaded, *mistake);
  return loaded;
}

void check_security(const LoadedSettings& loaded) {
  if (const auto mistake = find_security_mistake(loaded.settings)) refuse(loaded, *mistake);
}

std::string print_settings(const LoadedSettings& loaded) {
  std::string out, section;
  for (const SettingField& field : setting_fields()) {
    const std::size_t dot = field.key.find('.');
    if (field.key.substr(0, dot) != section) {
      section = field.key.substr(0, dot);
      if (!out.empty()) out += '\n';
      out.append("[").append(section).append("]\n");
    }
    // What discovery is to find is no setting yet.
    const bool is_unknown =
        is_to_discover(loaded.settings) && (field.key == "node.rank" || field.key == "cluster.nodes");
    std::string line = is_unknown ? "# " : "";
    line += field.key.substr(dot + 1) + " = " + (is_unknown ? "to be discovered" : field.print(loaded.settings));
    if (line.size() < 40) line.resize(40, ' ');
    out += line + "  # " + loaded.origin_of(field.key) + "\n";
  }
  return out;
}

}  // namespace fibocast
