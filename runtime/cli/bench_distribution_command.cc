#include <unistd.h>

#include <cmath>
#include <fstream>
#include <iostream>

#include "runtime/cli/bench_prediction.h"
#include "runtime/cli/bench_raw.h"
#include "runtime/cli/commands.h"
#include "runtime/cli/distribution_bench.h"
#include "runtime/cli/progress_bar.h"

namespace fibocast {
namespace {

struct BenchOptions {
  std::string dir, socket, cases_file, raw, algorithm;
  std::string mode = "distribution";
  std::string order = "shuffled";
  Rank ranks = 0;
  TreeOption tree, reduction;
  std::uint64_t bytes = 0;
  std::uint32_t repetitions = 20;
  std::optional<double> scale;
  BenchPlan plan;
};

Json tree_fields(const TreeOption& tree) { return {{"tree", tree.name}, {"s", tree.s}, {"r", tree.r}}; }

// The one case that the options describe.
Result<std::vector<BenchCase>> case_of(const BenchOptions& options) {
  const bool needs_tree = options.algorithm.empty() && options.mode != "scatter" && options.mode != "gather";
  if (options.ranks == 0 || (needs_tree && options.tree.name.empty()))
    return Status{Code::kInvalid, "give --cases FILE, or one case by --ranks and --tree or --algorithm", {}};
  Json fields{{"p", options.ranks}, {"mode", options.mode}};
  if (needs_tree) fields.update(tree_fields(options.tree));
  if (!options.algorithm.empty()) fields["algorithm"] = options.algorithm;
  if (options.bytes > 0) fields["bytes"] = options.bytes;
  if (!options.reduction.name.empty()) fields["reduction"] = tree_fields(options.reduction);
  auto result = parse_case(fields, options.repetitions);
  if (!result.ok()) return result.status();
  return std::vector<BenchCase>{*result};
}

Result<std::vector<BenchCase>> cases_of(const BenchOptions& options) {
  if (options.cases_file.empty()) return case_of(options);
  if (options.cases_file == "-") return read_cases(std::cin, options.repetitions);
  std::ifstream file(options.cases_file);
  if (!file) return Status{Code::kInvalid, "cannot read " + options.cases_file, {}};
  return read_cases(file, options.repetitions);
}

Json line_of(const BenchCase& of, const Measurement& taken, const Emulation& emulation) {
  Json line = of.fields;
  if (emulation.machine)
    line["predicted_ns"] = std::llround(static_cast<double>(predict_case(of, *emulation.machine)) * emulation.scale);
  line["case"] = taken.case_index;
  line["repetition"] = taken.repetition;
  line["order"] = taken.order;
  line["measured_ns"] = taken.measured;
  line["lateness_ns"] = taken.lateness;
  return line;
}

// One line for each repetition as it comes, to --raw or standard output, then a summary; with --json, and without a
// file, all in one document.
int bench(const Command& command, const BenchOptions& options) {
  auto cases = cases_of(options);
  if (!cases.ok()) return report(command, cases.status());
  BenchCluster cluster;
  RawValues raw;
  const bool in_document = command.json && options.raw.empty();
  Status ready = in_document ? Status{} : raw.open(options.raw.empty() ? "-" : options.raw);
  if (ready.ok()) ready = cluster.connect(options.dir, options.socket);
  if (!ready.ok()) return report(command, ready);
  auto before = cluster.resends();
  if (!before.ok()) return report(command, before.status());
  const Emulation emulation = emulation_of(options.dir, options.socket, options.scale);
  const bool progress = !command.quiet && isatty(STDERR_FILENO);
  Json all = Json::array();
  const Status status = run_distribution_bench(
      cluster, *cases, options.plan, [&](const Measurement& taken, std::size_t done, std::size_t of) {
        const Json line = line_of((*cases)[taken.case_index], taken, emulation);
        in_document ? all.push_back(line) : raw.write(line);
        if (progress) draw_progress(done, of, "repetitions");
      });
  if (!status.ok()) return report(command, status);
  if (const Status written = raw.status(); !written.ok()) return report(command, written);
  auto after = cluster.resends();
  if (!after.ok()) return report(command, after.status());
  Json summary{{"summary", true},
               {"scale", emulation.scale},
               {"cases", cases->size()},
               {"seed", options.plan.seed},
               {"resends", *after - *before}};
  if (in_document) summary["repetitions"] = all;
  print_json(summary);
  return 0;
}

}  // namespace

void add_bench_distribution_command(CLI::App& parent, Command& command) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* sub =
      add_subcommand(parent, command, "distribution", "Distribution latency of trees on the live cluster, raw values",
                     "fibocast bench distribution --ranks 19 --tree fibo --s 27us --r 88us", [&command, options] {
                       options->plan.shuffled = options->order == "shuffled";
                       return bench(command, *options);
                     });
  sub->add_option("--cases", options->cases_file, "a file of cases, one JSON object a line; -: standard input");
  sub->add_option("--ranks", options->ranks, "take part: 0 to P-1");
  sub->add_option("--tree", options->tree.name, "distribution tree; or of both ways: file:PATH, mesh");
  sub->add_option("--s", options->tree.s, "its send latency")->capture_default_str();
  sub->add_option("--r", options->tree.r, "its receive latency")->capture_default_str();
  sub->add_option("--reduction-tree", options->reduction.name, "tree of a barrier's way up");
  sub->add_option("--reduction-s", options->reduction.s, "its send latency")->capture_default_str();
  sub->add_option("--reduction-r", options->reduction.r, "its receive latency")->capture_default_str();
  sub->add_option("--mode", options->mode,
                  "what is measured: distribution, a barrier all arrive at at one time, scatter, gather, or answer: a "
                  "multicast and the last rank's answer")
      ->capture_default_str();
  sub->add_option("--algorithm", options->algorithm,
                  "in the place of trees, as sequential; scatter and gather: else as planned");
  sub->add_option("--bytes", options->bytes, "of a message, and of a rank's block")->capture_default_str();
  sub->add_option("--repetitions", options->repetitions, "where a case does not say")->capture_default_str();
  sub->add_option("--warmup", options->plan.warmup, "of each case, thrown away")->capture_default_str();
  sub->add_option("--seed", options->plan.seed, "of the shuffled order")->capture_default_str();
  sub->add_option("--order", options->order, "of the repetitions: shuffled, or given: case by case")
      ->check(CLI::IsMember({"shuffled", "given"}))
      ->capture_default_str();
  add_scale_option(*sub, options->scale);
  add_raw_option(*sub, options->raw);
  add_cluster_options(*sub, options->dir, options->socket);
}

}  // namespace fibocast
