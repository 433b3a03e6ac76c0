// Who may include whom, as a table, and the reader of #include lines that judges by it. It exists so that the
// direction of the layers (ARCHITECTURE, "Who may include whom") cannot erode unnoticed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fibocast {

// One layer of the tree and what its files may include.
struct Layer {
  std::string_view name;
  std::string_view folder;                 // "collectives/", ...: where its files are
  std::vector<std::string_view> layers;    // names of layers it may include, itself among them
  std::vector<std::string_view> external;  // prefixes of <...> that are no standard headers
};

// The file that the layer table says `path` (relative to the root) belongs to; nullptr: none.
const Layer* layer_of(std::string_view path);

// What is wrong with the #include lines of `text`, the content of the file `path`: one sentence per bad line.
std::vector<std::string> judge_includes(std::string_view path, std::string_view text);

}  // namespace fibocast
