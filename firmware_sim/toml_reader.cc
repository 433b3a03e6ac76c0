#include "firmware_sim/toml_reader.h"

#include <algorithm>
#include <sstream>

namespace fibocast {

std::string TomlReader::at(std::uint32_t line) const { return line > 0 ? name_ + ':' + std::to_string(line) : name_; }

toml::table TomlReader::parse(std::string_view text) const try {
  return toml::parse(text);
} catch (const toml::parse_error& error) {
  throw TomlMistake(at(error.source().begin.line) + ": " + std::string(error.description()));
}

void TomlReader::only(const toml::table& in, const std::string& prefix,
                      const std::vector<std::string_view>& allowed) const {
  for (const auto& [key, node] : in) {
    if (std::ranges::find(allowed, key.str()) != allowed.end()) continue;
    std::string list;
    for (const std::string_view word : allowed) list.append(list.empty() ? "" : ", ").append(word);
    throw TomlMistake(at(node.source().begin.line) + ": there is no '" + prefix + std::string(key.str()) +
                      "'; there are " + list);
  }
}

std::string TomlReader::words(const toml::node& node, const std::string& key) const {
  if (!node.is_string()) refuse(node, key, "a text in quotes");
  return *node.value<std::string>();
}

std::uint64_t TomlReader::whole(const toml::node& node, const std::string& key) const {
  const auto value = node.is_integer() ? *node.value<std::int64_t>() : -1;
  if (value < 0) refuse(node, key, "a whole number");
  return static_cast<std::uint64_t>(value);
}

void TomlReader::refuse(const toml::node& node, const std::string& key, const std::string& allowed) const {
  std::ostringstream found;
  node.visit([&](const auto& value) { found << value; });
  throw TomlMistake(at(node.source().begin.line) + ": " + key + " is " + found.str() + "; allowed: " + allowed);
}

}  // namespace fibocast
