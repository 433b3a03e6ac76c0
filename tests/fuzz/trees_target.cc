#include <stdexcept>

#include "runtime/cli/plan_nodes.h"
#include "tests/fuzz/text_input.h"

namespace fibocast::fuzz {

void fuzz_trees(Bytes input) {
  const MemoryFile file(text_of(input));
  std::string error;
  const auto tree = read_tree_file("file:" + file.path(), error);
  require_sentence(tree.has_value(), error);
  require(!tree || tree->is_valid());
  error.clear();
  try {
    require_sentence(read_nodes({.file = file.path()}, error).has_value(), error);
  } catch (const std::overflow_error&) {  // as its header says
  }
}

}  // namespace fibocast::fuzz
