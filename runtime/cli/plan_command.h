// `fibocast plan`: trees and schedules on paper, for any machine and any number of ranks, without a daemon. The work is
// in plain functions of options and streams, so that tests call what the program calls.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "collectives/types.h"
#include "runtime/cli/plan_costs.h"
#include "runtime/cli/plan_nodes.h"

namespace fibocast {

// fibocast plan tree
struct PlanTreeOptions {
  std::string tree = "fibo";      // or file:PATH
  Rank ranks = 0;                 // may be left out with a file of nodes or of a tree
  std::optional<Rank> root = {};  // 0, or the root of the tree's file
  std::string construction = {};  // of `lambda`: queue (the default), bottomup, alpha (the default with alpha), descent
  std::string alpha = {};         // of construction alpha: one for every size; none: the optimal table
  CostOptions costs = {};
  NodesOptions nodes = {};  // instead of the costs
  bool json = false;
  bool quiet = false;  // taken as everywhere; there is nothing to silence
};

// fibocast plan workstations
struct PlanWorkstationsOptions {
  std::string operation = "broadcast";
  std::string tree = "heterogeneous";
  std::optional<Rank> root = {};
  NodesOptions nodes = {};
  bool json = false;
  bool quiet = false;
};

// fibocast plan figure
struct PlanFigureOptions {
  std::string figure = {};
  bool list = false;
  bool json = false;
  bool quiet = false;
};

// fibocast plan mesh
struct PlanMeshOptions {
  unsigned order = 0;
  std::string mapping = "growing";
  std::string alpha = "1";
  bool json = false;
  bool quiet = false;
};

// fibocast plan fattree
struct PlanFattreeOptions {
  std::uint64_t leaves = 1;
  std::string capacities = "constant";
  std::string operation = {};           // with its schedule
  std::string algorithm = "pipelined";  // of alltoall
  Rank root = 0;
  bool json = false;
  bool quiet = false;
};

// fibocast plan schedule
struct PlanScheduleOptions {
  std::string operation = "barrier";
  std::string algorithm = "planned";  // of the algorithm catalogue; or the tree `lambda`
  Rank ranks = 1;                     // those that take part; a flooding has routers beside them
  std::uint64_t bytes = 0;            // as OperationShape::total_bytes
  std::uint32_t segment_bytes = 0;
  std::optional<Rank> rank = {};  // this rank's stages only: no other rank's schedule is built
  bool check = false;
  std::string type = {};              // of reduce and allreduce: int64
  std::string combine_operator = {};  // ... sum
  std::string ports = "shared";
  CostOptions costs = {};
  bool json = false;
  bool quiet = false;  // taken as everywhere; there is nothing to silence
};

// fibocast plan why
struct PlanWhyOptions {
  std::string operation = "barrier";
  Rank ranks = 0;  // may be left out with a file of nodes
  std::uint64_t bytes = 0;
  std::string type = "int64";  // of a reduction's elements
  std::string combine_operator = "sum";
  std::string ports = "shared";
  Rank colocated = 1;            // nodes on one host, which share
  std::uint32_t processors = 1;  // of it
  bool fans_out = false;         // short messages to several of them leave together
  CostOptions costs = {};
  std::string model = {};  // instead of the costs: a daemon's settings
  std::string nodes = {};  // instead of the costs: a file of different nodes
  std::string preset = "folded";
  bool json = false;
  bool quiet = false;
};

// fibocast plan catalog
struct PlanCatalogOptions {
  bool markdown = false;  // the table of collectives/README.md
  bool json = false;
  bool quiet = false;
};

// fibocast plan alpha-table
struct PlanAlphaTableOptions {
  std::string lambda = {};
  std::uint64_t max_ranks = 1;
  bool json = false;
  bool quiet = false;
};

// fibocast plan combine
struct PlanCombineOptions {
  std::uint64_t ranks = 1;
  std::string lambda = {};
  std::string scheme = "best";  // or delay-receive, delay-send; an integer lambda needs none
  bool json = false;
  bool quiet = false;
};

// Adds `plan` with `tree` and `schedule` below it. When one was called, `exit_code` is set during parsing; it outlives
// that.
void add_plan_command(CLI::App& parent, int& exit_code);

// Both print their answer to `out` and give the exit code: 0; 2 for wrong use, with one sentence on `err` (--json: a
// document on `out` instead); 1 if --check found the schedule wrong.
int plan_tree(const PlanTreeOptions& options, std::ostream& out, std::ostream& err);
int plan_schedule(const PlanScheduleOptions& options, std::ostream& out, std::ostream& err);

// One subcommand each, as above.
void add_alpha_table_command(CLI::App& plan, int& exit_code);
int plan_alpha_table(const PlanAlphaTableOptions& options, std::ostream& out, std::ostream& err);
void add_combine_command(CLI::App& plan, int& exit_code);
int plan_combine(const PlanCombineOptions& options, std::ostream& out, std::ostream& err);
int plan_workstations(const PlanWorkstationsOptions& options, std::ostream& out, std::ostream& err);
int plan_mesh(const PlanMeshOptions& options, std::ostream& out, std::ostream& err);
int plan_fattree(const PlanFattreeOptions& options, std::ostream& out, std::ostream& err);
int plan_figure(const PlanFigureOptions& options, std::ostream& out, std::ostream& err);
int plan_why(const PlanWhyOptions& options, std::ostream& out, std::ostream& err);
int plan_catalog(const PlanCatalogOptions& options, std::ostream& out, std::ostream& err);

// Those that are in their own file: each adds itself below `plan`, as add_plan_command() does.
void add_plan_workstations_command(CLI::App& plan, int& exit_code);
void add_plan_mesh_command(CLI::App& plan, int& exit_code);
void add_plan_fattree_command(CLI::App& plan, int& exit_code);
void add_plan_figure_command(CLI::App& plan, int& exit_code);
void add_plan_why_command(CLI::App& plan, int& exit_code);
void add_plan_catalog_command(CLI::App& plan, int& exit_code);

}  // namespace fibocast
