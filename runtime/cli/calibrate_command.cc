// fibocast calibrate: measures the model of the live cluster, and makes it plan by that.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <iostream>

#include "runtime/cli/calibration/calibration_answer.h"
#include "runtime/cli/cluster_record.h"
#include "runtime/cli/commands.h"
#include "runtime/cli/progress_bar.h"
#include "runtime/cli/stolen_time.h"
#include "runtime/daemon/settings.h"

namespace fibocast {
namespace {

// Of every algorithm that is not far behind, for as long as there is time: all in all this for each repetition.
constexpr std::uint32_t kRoundsOfContest = 100;
constexpr std::chrono::milliseconds kTimeOfRepetition{930}, kTimeOfFinal{100};  // of each of --repetitions

struct CalibrateOptions {
  std::string dir, socket, output;
  std::uint32_t repetitions = 10;
  std::uint64_t seed = 1;
  std::optional<double> scale;
  bool apply = false;
  bool candidates = false;
};

// How the local cluster was made; of any other one nothing is known but what is said.
CalibrationPlan plan_of(const CalibrateOptions& options) {
  CalibrationPlan plan;
  plan.repetitions = options.repetitions;
  plan.seed = options.seed;
  const auto record = options.socket.empty() ? read_cluster_record(options.dir) : std::nullopt;
  plan.scale = options.scale.value_or(record ? record->scale : 1);
  plan.emulated = options.scale || (record && record->machine != "none");
  return plan;
}

// The most nodes of one host, by the names in cluster.nodes, as daemons count them (shared_hosts()). A daemon tells the
// addresses of its peers, not its own.
Result<Rank> colocated_nodes(BenchCluster& cluster) {
  std::map<NodeId, std::string> addresses;
  for (NodeId node = 0; node < std::min<NodeId>(2, cluster.size()); ++node) {
    auto info = cluster.client(node).status();
    if (!info.ok()) return info.status();
    for (const PeerInfo& peer : info->peers) addresses[peer.rank] = peer.address;
  }
  std::map<std::string, Rank> nodes;
  Rank most = 1;
  for (const auto& [node, address] : addresses)
    if (const auto at = parse_host_port(address)) most = std::max(most, ++nodes[at->host]);
  return most;
}

// What the daemons would take by the model, and where they are many times as fast as an emulated machine all that they
// could take, measured.
Result<std::vector<Contest>> check_model(BenchCluster& cluster, const NodeModel& model, const CalibrationPlan& plan,
                                         bool all, std::chrono::steady_clock::time_point begin) {
  const auto ticks = [](double ns) { return static_cast<std::uint64_t>(std::llround(ns * kContestTicks)); };
  ContestPlan contest;
  contest.model.send = ticks(double(model.s)), contest.model.latency = ticks(double(model.l));
  contest.model.occupancy = ticks(double(model.o)), contest.model.wake = ticks(double(model.wake));
  contest.model.send_per_byte = ticks(model.send_per_byte);
  contest.model.occupancy_per_byte = ticks(model.receive_per_byte);
  if (!plan.emulated) contest.hosts = {.nodes = plan.colocated, .processors = model.processors};
  contest.repetitions = all ? std::max(plan.repetitions, kRoundsOfContest) : plan.repetitions;
  if (all) contest.end = begin + kTimeOfRepetition * plan.repetitions;
  if (all) contest.until = contest.end - kTimeOfFinal * plan.repetitions;
  if (all) contest.segment_bytes = plan_for(contest.model, cluster.size(), {}, contest.hosts).segment_bytes;
  contest.seed = plan.seed, contest.scale = plan.scale, contest.emulated = plan.emulated, contest.all = all;
  return measure_candidates(cluster, contest, {representative_bytes(0), representative_bytes(1)},
                            [](std::size_t, std::size_t) {});
}

// All daemons take the model; then the groups that were created get plans by it, while they go on. The others keep
// theirs: those that exist by their name, and those with a tree that was given.
Status apply(BenchCluster& cluster, const NodeModel& model, std::vector<std::string>& planned) {
  std::map<std::string, NodeId> groups;
  for (NodeId node = 0; node < cluster.size(); ++node) {
    if (Status status = cluster.client(node).set_model(model); !status.ok()) return status;
    auto info = cluster.client(node).status();
    if (!info.ok()) return info.status();
    for (const GroupInfo& group : info->groups) groups.emplace(group.name, node);
  }
  for (const auto& [name, node] : groups) {
    GroupRequest request;
    request.name = name;
    const Status status = cluster.client(node).plan_group(request);
    if (status.ok()) planned.push_back(name);
    if (!status.ok() && status.code != Code::kInvalid) return status;
  }
  return {};
}

int calibrate_cluster(const Command& command, const CalibrateOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const double stolen_before = stolen_seconds();
  BenchCluster cluster;
  if (Status status = cluster.connect(options.dir, options.socket); !status.ok()) return report(command, status);
  CalibrationPlan plan = plan_of(options);
  auto colocated = colocated_nodes(cluster);
  if (!colocated.ok()) return report(command, colocated.status());
  plan.colocated = *colocated;
  const bool progress = !command.quiet && isatty(STDERR_FILENO);
  Measurements taken;
  const Status status = measure(cluster, plan, taken, [&](std::size_t done, std::size_t all) {
    if (progress) draw_progress(done, all, "repetitions");
  });
  if (!status.ok()) return report(command, status);
  CalibrationReport result;
  result.calibration = calibrate(taken, plan, cluster.size());
  NodeModel model = model_of(result.calibration);
  auto checks = check_model(cluster, model, plan, options.candidates || !plan.emulated, begin);
  if (!checks.ok()) return report(command, checks.status());
  result.contests = *checks;
  model.measured = to_text(measured_choices(*checks, cluster.size()));
  result.scale = plan.scale, result.repetitions = plan.repetitions, result.clock_bound = cluster.clock_bound();
  result.stolen = stolen_seconds() - stolen_before;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const Status written =
      options.output.empty() ? Status{} : write_file(options.output, model_file(model, cluster.size()));
  if (!written.ok()) return report(command, written);
  std::vector<std::string> planned;
  const Status applied = options.apply ? apply(cluster, model, planned) : Status{};
  if (command.json) {
    Json json = to_json(result);
    json["output"] = options.output;
    json["applied"] = options.apply && applied.ok();
    json["planned_groups"] = planned;
    if (!applied.ok()) json["status"] = to_json(applied);
    print_json(json);
    return applied.ok() ? 0 : report({.json = false}, applied);
  }
  print_text(result);
  if (!options.output.empty())
    std::cout << "The model is in " << options.output << ": put it into the daemons' files.\n";
  if (!applied.ok()) return report(command, applied);
  if (options.apply)
    std::cout << "All daemons plan by it until they end; " << planned.size()
              << " groups have new plans. Write it to their files (--output) to keep it.\n";
  return 0;
}

}  // namespace

void add_calibrate_command(CLI::App& app, Command& command) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App* sub = add_subcommand(app, command, "calibrate", "Measure the model of the live cluster",
                                 "fibocast calibrate --output model.toml --apply",
                                 [&command, options] { return calibrate_cluster(command, *options); });
  sub->add_option("--output", options->output, "write the [model] to this file");
  sub->add_flag("--apply", options->apply, "daemons plan by it from now on, and created groups get new plans");
  sub->add_flag("--candidates", options->candidates,
                "an emulated cluster: measure every algorithm beside the one that the model prefers, as on a real one");
  sub->add_option("--repetitions", options->repetitions, "of each measurement")
      ->check(CLI::Range(2u, 10'000u))
      ->capture_default_str();
  sub->add_option("--seed", options->seed, "of the shuffled order")->capture_default_str();
  sub->add_option("--scale", options->scale,
                  "an emulated cluster: divide its times by this; default: as `fibocast up` was told")
      ->check(positive_number());
  add_cluster_options(*sub, options->dir, options->socket);
}

}  // namespace fibocast
