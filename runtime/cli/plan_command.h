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

namespace fibocast {

// fibocast plan tree
struct PlanTreeOptions {
  std::string tree = "fibo";
  Rank ranks = 1;
  Rank root = 0;
  std::string construction = "queue";  // of `lambda`: queue or descent
  CostOptions costs = {};
  bool json = false;
  bool quiet = false;  // taken as everywhere; there is nothing to silence
};

// fibocast plan schedule
struct PlanScheduleOptions {
  std::string operation = "barrier";
  std::string algorithm = "fibo";  // the tree of the distribution; a reduction takes its mirror tree
  Rank ranks = 1;
  std::uint64_t bytes = 0;
  std::uint32_t segment_bytes = 0;
  std::optional<Rank> rank = {};  // this rank's stages only: no other rank's schedule is built
  bool check = false;
  std::string ports = "shared";
  CostOptions costs = {};
  bool json = false;
  bool quiet = false;  // taken as everywhere; there is nothing to silence
};

// Adds `plan` with `tree` and `schedule` below it. When one was called, `exit_code` is set during parsing; it outlives
// that.
void add_plan_command(CLI::App& parent, int& exit_code);

// Both print their answer to `out` and give the exit code: 0; 2 for wrong use, with one sentence on `err`; 1 if --check
// found the schedule wrong.
int plan_tree(const PlanTreeOptions& options, std::ostream& out, std::ostream& err);
int plan_schedule(const PlanScheduleOptions& options, std::ostream& out, std::ostream& err);

}  // namespace fibocast
