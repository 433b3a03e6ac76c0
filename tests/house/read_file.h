// A file of the tree as text.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace fibocast {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace fibocast
