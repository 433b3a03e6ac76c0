// The program fibocast-simulate, which `fibocast simulate` starts.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string_view>

#include "collectives/number_text.h"
#include "collectives/schedule.h"
#include "collectives/tree_file.h"
#include "firmware_sim/fault_file.h"
#include "firmware_sim/machine_file.h"
#include "firmware_sim/machine_presets.h"
#include "firmware_sim/simulate/answer.h"
#include "firmware_sim/simulate/chrome_trace.h"
#include "firmware_sim/simulate/replay_file.h"
#include "firmware_sim/simulate/timeline.h"
#include "firmware_sim/simulate/troubled_answer.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUse = 2;
constexpr std::array kPlacements = {Placement::kRowMajor, Placement::kRandom, Placement::kReflecting,
                                    Placement::kGrowing};

struct Options {
  std::string machine = "ideal";
  std::string operation;
  std::string ports;
  std::string placement = "row-major";
  std::string fidelity;  // empty: not said
  std::string faults;
  std::string trace;
  std::string replay;
  ExperimentRequest request;
  std::optional<Rank> root;
  bool timeline = false;
  bool json = false;
  bool quiet = false;
};

std::string footer() {
  std::string text = "Machines:\n";
  for (const MachinePreset& preset : machine_presets()) {
    text.append("  ").append(preset.name).append(14 - preset.name.size(), ' ');
    text.append(preset.description).append("\n");
  }
  text += "  FILE.toml     [network] kind =\n";
  for (const NetworkKind kind : {NetworkKind::kIdeal, NetworkKind::kCrossbar, NetworkKind::kMesh, NetworkKind::kFatTree,
                                 NetworkKind::kWorkstations})
    text.append("                  ").append(network_name(kind)).append(": ").append(parameters(kind)).append("\n");
  text += "Faults (simulate --machine manna --operation barrier --ranks 8 --faults FILE): tables [[fault]] with\n";
  for (const Fault::Kind kind : fault_kinds())
    text.append("  kind = \"").append(kind_name(kind)).append("\", ").append(fault_keys(kind)).append("\n");
  return text + "Example: fibocast simulate --machine manna --operation multicast --tree fibo --ranks 19 --timeline";
}

void add_options(CLI::App& app, Options& o) {
  ExperimentRequest& r = o.request;
  r.ranks = 0;  // not said
  app.add_option("--machine", o.machine, "a name or a file that ends in .toml")->capture_default_str();
  app.add_option("--operation", o.operation, "barrier, multicast, reduce, ..");
  auto* algorithm = app.add_option("--algorithm", r.algorithm, "as in fibocast plan schedule; default: planned");
  app.add_option("--tree", r.tree,
                 "sequential, binary, kary:K, binomial, fibo, lambda, heterogeneous, .., file:PATH (as in plan tree)")
      ->excludes(algorithm);
  app.add_option("--ranks", r.ranks, "that take part")->check(CLI::Range(1u, 10'000'000u));
  app.add_option("--bytes", r.bytes, "payload, vector or block");
  app.add_option("--segment", r.segment_bytes, "a multicast in pieces of so many bytes");
  app.add_option("--root", o.root, "the rank that sends or collects; default: 0, or the root of a tree in a file");
  app.add_option("--ports", o.ports, "instead of the machine's")->check(CLI::IsMember({"shared", "independent"}));
  app.add_option("--placement", o.placement, "of the ranks on the nodes")
      ->check(CLI::IsMember({"row-major", "random", "reflecting", "growing"}))
      ->capture_default_str();
  app.add_option("--seed", r.seed, "of a random placement and of the faults' dice")->capture_default_str();
  app.add_option("--fidelity", o.fidelity,
                 "what runs on a node: its engine alone (default), or all of it (up to 10,000 nodes)")
      ->check(CLI::IsMember({"engine", "node"}));
  app.add_option(
      "--faults", o.faults,
      "what goes wrong, a file that ends in .toml (below): whole nodes, with a deadline of 10 s; says how the "
      "operation ends at each rank");
  app.add_option("--replay", o.replay,
                 "instead of a machine and an operation: run again what fibocast trace has recorded, also with another "
                 "--tree or --algorithm");
  app.add_option("--trace", o.trace, "write a Chrome trace (for Perfetto) to this file");
  app.add_flag("--timeline", o.timeline, "draw who sends and receives when");
  app.add_flag("--json", o.json, "one JSON document on stdout");
  app.add_flag("--quiet", o.quiet, "no progress");
}

void check_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; }))
    if (option->get_type_name().starts_with("UINT")) option->transform(CLI::Validator(fault_of_unsigned, ""));
}

std::optional<std::string> read_text(const std::string& name, std::string& error) {
  std::ifstream file(name);
  std::ostringstream text;
  file.peek();  // a folder can be opened, but not read
  if (file.eof()) return "";
  text << file.rdbuf();
  if (file && text) return text.str();
  error = name + " cannot be read";
  return {};
}

std::optional<MachineDescription> find_machine(const std::string& name, Rank ranks, std::string& error) {
  if (!name.ends_with(".toml")) return machine_preset(name, ranks, error);
  const auto text = read_text(name, error);
  return text ? parse_machine(*text, name, error) : std::nullopt;
}

// --tree file:PATH
std::string read_given_tree(Options& o) {
  constexpr std::string_view kFile = "file:";
  o.request.root = o.root.value_or(0);
  if (!o.request.tree.starts_with(kFile)) return {};
  const std::string name = o.request.tree.substr(kFile.size());
  std::string error;
  const auto text = read_text(name, error);
  if (!text) return error;
  o.request.given = parse_tree(*text, error);
  if (!o.request.given) return name + ": " + error;
  o.request.root = o.root.value_or(o.request.given->root());
  return {};
}

// A sentence if something is wrong.
std::string understand(Options& o) {
  std::string error;
  if (o.operation.empty() || o.request.ranks == 0) return "give --operation and --ranks, or --replay";
  const auto operation = operation_by_name(o.operation);
  if (!operation) {
    error = "there is no operation \"" + o.operation + "\"; there are ";
    for (std::size_t i = 1; i <= kOperations; ++i)
      error.append(i > 1 ? ", " : "").append(operation_name(static_cast<Operation>(i)));
    return error;
  }
  o.request.operation = *operation;
  const auto machine = find_machine(o.machine, o.request.ranks, error);
  if (!machine) return error;
  o.request.machine = *machine;
  if (!o.ports.empty()) o.request.machine.ports = o.ports == "shared" ? Ports::kShared : Ports::kIndependent;
  for (const Placement placement : kPlacements)
    if (placement_name(placement) == o.placement) o.request.placement = placement;
  return read_given_tree(o);
}

bool stderr_is_terminal() {
  std::error_code failed;
  return std::filesystem::is_character_file("/dev/stderr", failed);
}

SimulationOptions simulation_options(const Options& o) {
  SimulationOptions options;
  options.record = o.timeline || !o.trace.empty();
  if (o.quiet || o.json || !stderr_is_terminal()) return options;
  options.progress = [](std::uint64_t events, Ticks now) {
    std::cerr << "\r" << events / 1'000'000 << " million events, tick " << now << std::flush;
  };
  return options;
}

// With --json a document, as every other failure of `fibocast`.
int fail(bool json, const std::string& error, int code) {
  using Json = nlohmann::ordered_json;
  if (json)
    std::cout << Json{{"status", code == kWrongUse ? "INVALID" : "FAILED"}, {"sentence", error}}.dump(
                     -1, ' ', false, Json::error_handler_t::replace)
              << '\n';
  else
    std::cerr << "fibocast-simulate: " << error << '\n';
  return code;
}

bool asks_json(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
}

// What was recorded is run again on the machine on which it was recorded.
std::string objection_to_replay(const CLI::App& app) {
  for (const char* other : {"--machine", "--operation", "--ranks", "--bytes", "--segment", "--root", "--ports",
                            "--placement", "--seed", "--fidelity", "--faults", "--trace", "--timeline"})
    if (app.count(other) > 0) return std::string("--replay runs again what was recorded: leave ") + other + " away";
  return {};
}

int replay_trace(const Options& o) {
  std::string error;
  const std::string& other = o.request.tree.empty() ? o.request.algorithm : o.request.tree;
  const auto incident = read_incident(o.replay, other, error);
  if (!incident) return fail(o.json, error, kWrongUse);
  const auto now = replay(*incident, error);
  if (!now) return fail(o.json, error, kFailed);
  const auto answer = replay_json(*incident, *now);
  std::cout << (o.json ? answer.dump(2) + "\n" : replay_text(answer));
  return 0;
}

int simulate_with_faults(const Options& o, Experiment& experiment) {
  std::string error;
  const auto text = read_text(o.faults, error);
  if (!text) return fail(o.json, error, kWrongUse);
  const auto faults = parse_faults(*text, o.faults, experiment.shape().ranks, error);
  if (!faults) return fail(o.json, error, kWrongUse);
  if (!experiment.request().machine.is_time)
    return fail(o.json,
                "faults take real time: give a --machine whose costs are times: manna, hnow or a file with units",
                kWrongUse);
  const auto run = experiment.run_troubled_nodes(*faults, error);
  if (!run) return fail(o.json, error, kFailed);
  if (o.json) {
    auto answer = troubled_json(experiment, *faults, *run);
    answer["fidelity"] = "node";
    std::cout << answer.dump(2) << '\n';
  } else {
    std::cout << troubled_text(experiment, *faults, *run);
  }
  return exit_code(*run);
}

int simulate(Options& o) {
  if (!o.replay.empty()) return replay_trace(o);
  if (!o.faults.empty() && o.fidelity == "engine")
    return fail(o.json, "faults happen to whole nodes: leave --fidelity engine away", kWrongUse);
  const bool whole = o.fidelity == "node" || !o.faults.empty();
  std::string error = understand(o);
  if (!error.empty()) return fail(o.json, error, kWrongUse);
  auto experiment = Experiment::prepare(o.request, error);
  if (!experiment) return fail(o.json, error, kWrongUse);
  const SimulationOptions options = simulation_options(o);
  if (whole && options.record)
    return fail(o.json, "traces and timelines are drawn of --fidelity engine, without faults", kWrongUse);
  if (!o.faults.empty()) return simulate_with_faults(o, *experiment);
  const auto run = whole ? experiment->run_full_nodes(error) : experiment->run(options, error);
  if (options.progress) std::cerr << '\r';
  if (!run) return fail(o.json, error, kFailed);
  if (!o.trace.empty()) {
    std::ofstream file(o.trace);
    write_chrome_trace(*experiment, *run, file);
    if (!file.flush()) return fail(o.json, o.trace + " cannot be written", kFailed);
  }
  if (o.json) {
    auto answer = answer_json(*experiment, *run);
    answer["fidelity"] = whole ? "node" : "engine";
    std::cout << answer.dump(2) << '\n';
    return 0;
  }
  std::cout << answer_text(*experiment, *run);
  if (o.timeline) std::cout << '\n' << timeline_text(*experiment, *run);
  return 0;
}

// The protocol that its nodes speak.
std::string version_text() {
  return "fibocast-simulate " FIBOCAST_VERSION ", protocol " + std::to_string(kFrameMajor) + "." +
         std::to_string(kFrameMinor);
}

int run(int argc, char** argv) {
  CLI::App app("fibocast simulate - one operation on a modelled machine, in virtual time", "fibocast simulate");
  Options options;
  app.set_version_flag("--version", version_text());
  add_options(app, options);
  check_numbers(app);
  app.footer(footer());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0 && asks_json(argc, argv)) return fail(true, error.what(), kWrongUse);
    return app.exit(error) == 0 ? 0 : kWrongUse;
  }
  if (const std::string error = objection_to_replay(app); !options.replay.empty() && !error.empty())
    return fail(options.json, error, kWrongUse);
  return simulate(options);
}

}  // namespace
}  // namespace fibocast

int main(int argc, char** argv) {
  const int exit_code = fibocast::run(argc, argv);
  if (std::cout.flush()) return exit_code;
  return fibocast::fail(false,
                        "cannot write to standard output, so the answer is not all there; is the disk full, or the "
                        "output closed?",
                        exit_code == 0 ? fibocast::kFailed : exit_code);
}
