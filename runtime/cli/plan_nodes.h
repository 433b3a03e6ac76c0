// Different workstations on the command line of `fibocast plan`: the file that lists them, and trees in files.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "collectives/models/workstations.h"
#include "collectives/tree.h"

namespace fibocast {

struct NodesOptions {
  std::string file = {};           // as collectives/models/workstations_file.h describes; or:
  std::string configuration = {};  // "FFSS"
  std::string preset = "folded";
  std::uint64_t bytes = 0;
  bool empty() const { return file.empty() && configuration.empty(); }
};

void add_nodes_options(CLI::App& app, NodesOptions& options);

// Nothing, and a sentence in `error`, for a file that cannot be read or says something else. Throws
// std::overflow_error.
std::optional<WorkstationCluster> read_nodes(const NodesOptions& options, std::string& error);

// "file:PATH" names a tree in a file.
bool is_tree_file(const std::string& name);
// Precondition: is_tree_file(name). Nothing, and a sentence in `error`, if there is no tree in it.
std::optional<Tree> read_tree_file(const std::string& name, std::string& error);

// Any tree on these nodes: choose_workstation_tree()'s names or file:PATH, whose root must be `root` if that is given.
std::optional<Tree> read_or_choose_tree(const std::string& name, const HeterogeneousCosts& costs,
                                        std::optional<Rank> root, std::string& error);

}  // namespace fibocast
