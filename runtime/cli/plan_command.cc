#include "runtime/cli/plan_command.h"

#include <iostream>
#include <memory>

namespace fibocast {
namespace {

void add_tree_command(CLI::App& plan, int& exit_code) {
  const auto options = std::make_shared<PlanTreeOptions>();
  CLI::App* app = plan.add_subcommand("tree", "Who sends to whom, in which order, and how long it takes");
  app->add_option("--tree", options->tree,
                  "sequential, binary, kary:K, binomial, fibo, lambda, .., heterogeneous, file:PATH")
      ->capture_default_str();
  app->add_option("--ranks", options->ranks, "number of ranks; those of --nodes or file:PATH if there is one");
  app->add_option("--root", options->root, "the rank that starts; 0");
  app->add_option("--construction", options->construction,
                  "of lambda: queue (default), bottomup, alpha (partition), or descent as in daemons")
      ->check(CLI::IsMember({"queue", "bottomup", "alpha", "descent"}));
  app->add_option("--alpha", options->alpha, "of lambda: partition by this fraction instead of the optimal table");
  add_cost_options(*app, options->costs);
  add_nodes_options(*app, options->nodes);
  app->add_flag("--json", options->json, "one JSON document on stdout, nothing else there");
  app->add_flag("--quiet", options->quiet, "no progress and no remarks: there are none");
  app->footer("Example: fibocast plan tree --tree fibo --ranks 19 --s 27us --r 88us");
  app->callback([options, &exit_code] { exit_code = plan_tree(*options, std::cout, std::cerr); });
}

void add_schedule_command(CLI::App& plan, int& exit_code) {
  const auto options = std::make_shared<PlanScheduleOptions>();
  CLI::App* app =
      plan.add_subcommand("schedule", "The stages of each rank of an operation; virtual ranks, the root is 0");
  app->add_option("--operation", options->operation,
                  "barrier, multicast, reduce, allreduce, scatter, gather, allgather, alltoall, divide or conquer")
      ->capture_default_str();
  app->add_option("--algorithm,--tree", options->algorithm,
                  "fibo, binomial, kary:K, dissemination:K, ring, .. : a wrong name lists those of the operation; "
                  "planned: what its plan takes")
      ->capture_default_str();
  app->add_option("--ranks", options->ranks, "number of ranks; a flooding has one router less beside them")->required();
  app->add_option("--bytes", options->bytes,
                  "size of the payload, of a rank's vector, of the vector that is shared out, or of one block")
      ->capture_default_str();
  app->add_option("--segment", options->segment_bytes, "cut the payload into segments of these bytes; 0: do not");
  app->add_option("--type", options->type,
                  "of a reduction, divide or conquer: int32, int64 (default), uint64, float, double or bytes");
  app->add_option("--operator", options->combine_operator,
                  "of a reduction or conquer: min, max, sum (default), prod, and, or, xor");
  app->add_option("--rank", options->rank, "only this rank's stages: works for 1000000000 ranks");
  app->add_flag("--check", options->check, "prove that the schedule is right");
  app->add_option("--ports", options->ports, "one processor for sends and receives, or two")
      ->check(CLI::IsMember({"shared", "independent"}))
      ->capture_default_str();
  add_cost_options(*app, options->costs);
  app->add_flag("--json", options->json, "one JSON document on stdout, nothing else there");
  app->add_flag("--quiet", options->quiet, "no progress and no remarks: there are none");
  app->footer(
      "Example: fibocast plan schedule --operation barrier --algorithm fibo --ranks 19 --s 27us --r 88us --check");
  app->callback([options, &exit_code] { exit_code = plan_schedule(*options, std::cout, std::cerr); });
}

}  // namespace

void add_plan_command(CLI::App& parent, int& exit_code) {
  CLI::App* plan = parent.add_subcommand("plan", "Trees and schedules on paper: for any machine, without a daemon");
  plan->require_subcommand(1);
  add_tree_command(*plan, exit_code);
  add_schedule_command(*plan, exit_code);
  add_plan_why_command(*plan, exit_code);
  add_plan_catalog_command(*plan, exit_code);
  add_alpha_table_command(*plan, exit_code);
  add_combine_command(*plan, exit_code);
  add_plan_workstations_command(*plan, exit_code);
  add_plan_mesh_command(*plan, exit_code);
  add_plan_fattree_command(*plan, exit_code);
  add_plan_figure_command(*plan, exit_code);
}

}  // namespace fibocast
