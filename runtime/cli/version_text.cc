#include "runtime/cli/version_text.h"

namespace fibocast {

std::string newer_daemons_text(const NodeInfo& node) {
  const auto newer = node.counters.find("peers_newer");
  if (newer == node.counters.end() || newer->second == 0) return {};
  return std::to_string(newer->second) + " other daemons name operations, algorithms or plans that version " +
         node.version + " does not know: such operations end with MISMATCH, and groups so planned are not known here";
}

}  // namespace fibocast
