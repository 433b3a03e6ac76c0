// What the readers of this folder's TOML files have in common: every mistake is one sentence with the file, the line
// and what is allowed instead.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fibocast {

// The one sentence, on its way out of a reader's functions. It does not leave this folder.
struct TomlMistake : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class TomlReader {
 public:
  explicit TomlReader(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  // "file:12"; line 0 is unknown: "file".
  std::string at(std::uint32_t line) const;

  // All of them throw a TomlMistake: parse() for what is no TOML, only() for a key that is not `allowed` (it is named
  // with `prefix`), the others if the value is something else.
  toml::table parse(std::string_view text) const;
  void only(const toml::table& in, const std::string& prefix, const std::vector<std::string_view>& allowed) const;
  std::string words(const toml::node& node, const std::string& key) const;
  std::uint64_t whole(const toml::node& node, const std::string& key) const;
  [[noreturn]] void refuse(const toml::node& node, const std::string& key, const std::string& allowed) const;

 private:
  std::string name_;
};

}  // namespace fibocast
