#include "runtime/cli/plan_nodes.h"

#include <fstream>
#include <sstream>

#include "collectives/models/workstation_trees.h"
#include "collectives/models/workstations_file.h"
#include "collectives/tree_file.h"

namespace fibocast {
namespace {

constexpr std::string_view kFilePrefix = "file:";

std::optional<std::string> read_text(const std::string& path, std::string& error) {
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();  // does not throw, not even for a folder
  if (file.is_open() && !text.view().empty()) return text.str();
  error = "the file " + path + " cannot be read or is empty";
  return {};
}

}  // namespace

void add_nodes_options(CLI::App& app, NodesOptions& options) {
  app.add_option("--nodes", options.file,
                 "file of different nodes: lines \"type NAME SEND PER_BYTE RECEIVE PER_BYTE\" (us), \"link LATENCY "
                 "PER_BYTE\", \"nodes NAME COUNT\"");
  app.add_option("--configuration", options.configuration, "instead: a letter per node, F fast or S slow: FFSS");
  app.add_option("--bytes", options.bytes, "size of the message on different nodes")->capture_default_str();
  app.add_option("--preset", options.preset,
                 "types slow and fast and the link, unless the file says otherwise: literal (X_c = 16) or folded (0)")
      ->capture_default_str();
}

std::optional<WorkstationCluster> read_nodes(const NodesOptions& options, std::string& error) {
  const auto preset = parse_workstation_preset(options.preset);
  if (!preset) {
    error = "--preset must be literal or folded";
    return {};
  }
  if (options.file.empty() == options.configuration.empty()) {
    error = "give either --nodes with a file or --configuration with letters";
    return {};
  }
  if (!options.configuration.empty()) return workstations_of_letters(options.configuration, *preset, error);
  const auto text = read_text(options.file, error);
  if (!text) return {};
  auto cluster = parse_workstations(*text, *preset, error);
  if (!cluster) error = options.file + ": " + error;
  return cluster;
}

bool is_tree_file(const std::string& name) { return name.starts_with(kFilePrefix); }

std::optional<Tree> read_tree_file(const std::string& name, std::string& error) {
  const std::string path = name.substr(kFilePrefix.size());
  const auto text = read_text(path, error);
  if (!text) return {};
  auto tree = parse_tree(*text, error);
  if (!tree) error = path + ": " + error;
  return tree;
}

std::optional<Tree> read_or_choose_tree(const std::string& name, const HeterogeneousCosts& costs,
                                        std::optional<Rank> root, std::string& error) {
  if (!is_tree_file(name)) return choose_workstation_tree(name, costs, root.value_or(0), error);
  auto tree = read_tree_file(name, error);
  if (!tree) return {};
  if (tree->size() == costs.nodes.size() && tree->root() == root.value_or(tree->root())) return tree;
  error = "the tree in " + name.substr(kFilePrefix.size()) + " has " + std::to_string(tree->size()) +
          " ranks and root " + std::to_string(tree->root()) + ": that is not what is asked for";
  return {};
}

}  // namespace fibocast
