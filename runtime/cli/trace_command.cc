// fibocast trace: the flight recorders of the daemons in one file.
#include <algorithm>
#include <fstream>
#include <iostream>

#include "runtime/cli/cluster_record.h"
#include "runtime/cli/commands.h"
#include "runtime/cli/trace_file.h"

namespace fibocast {
namespace {

struct TraceOptions {
  std::string dir;
  std::vector<std::string> sockets;
  std::string output = "fibocast-trace.json";
};

// Those that were named, else those of the local cluster.
Result<std::vector<std::string>> sockets_of(const TraceOptions& options) {
  if (!options.sockets.empty()) return options.sockets;
  const auto record = read_cluster_record(options.dir);
  if (!record)
    return Status{Code::kUnavailable,
                  "no local cluster is up in " + options.dir + "; name the daemons' sockets with --socket",
                  {}};
  std::vector<std::string> sockets;
  for (const LocalNode& node : record->nodes)
    if (node.pid > 0) sockets.push_back(node.socket);
  return sockets;
}

struct Gathered {
  std::vector<NodeTrace> traces;
  std::vector<std::string> silent;  // sentences
};

Gathered gather(const std::vector<std::string>& sockets) {
  Gathered gathered;
  for (const std::string& socket : sockets) {
    auto client = Client::connect(socket);
    auto trace = client.ok() ? client.value()->trace() : Result<NodeTrace>(client.status());
    if (trace.ok())
      gathered.traces.push_back(std::move(*trace));
    else
      gathered.silent.push_back(socket + ": " + trace.status().sentence);
  }
  return gathered;
}

Json summary(const std::string& file, const Gathered& gathered, const TraceStory& story) {
  std::uint64_t events = 0, overwritten = 0, whole = 0;
  for (const NodeTrace& trace : gathered.traces) events += trace.events.size(), overwritten += trace.first;
  for (const auto& [key, o] : story.operations) whole += o.is_whole() ? 1 : 0;
  return {{"file", file},
          {"daemons", gathered.traces.size()},
          {"silent", gathered.silent},
          {"events", events},
          {"overwritten", overwritten},
          {"from_ns", story.from},
          {"to_ns", story.to},
          {"operations", story.operations.size()},
          {"whole_operations", whole}};
}

void print_summary(const Json& s) {
  const double seconds = (s["to_ns"].get<double>() - s["from_ns"].get<double>()) / 1e9;
  std::cout << "The last " << s["events"] << " events of " << s["daemons"] << " daemons; all of them cover "
            << std::max(seconds, 0.0) << " s with " << s["whole_operations"] << " whole operations.\n"
            << "Older events that were overwritten: " << s["overwritten"] << ".\nWritten to "
            << s["file"].get<std::string>() << "; https://ui.perfetto.dev opens it." << std::endl;
}

int trace(const Command& command, const TraceOptions& options) {
  auto sockets = sockets_of(options);
  if (!sockets.ok()) return report(command, sockets.status());
  const Gathered gathered = gather(*sockets);
  if (gathered.traces.empty()) {
    const std::string why = gathered.silent.empty() ? "the cluster has no daemons" : gathered.silent.front();
    return report(command, {Code::kUnavailable, "no daemon answers; " + why, {}});
  }
  const TraceStory story = tell_story(gathered.traces);
  std::ofstream file(options.output);
  file << trace_file(gathered.traces, story).dump() << std::endl;
  if (!file) return report(command, {Code::kInvalid, "cannot write " + options.output + "; name another --output", {}});
  for (const std::string& sentence : gathered.silent) std::cerr << "fibocast: left out: " << sentence << '\n';
  const Json document = summary(options.output, gathered, story);
  command.json ? print_json(document) : (command.quiet ? void() : print_summary(document));
  return gathered.silent.empty() ? 0 : Status{Code::kUnavailable, "", {}}.exit_code();
}

}  // namespace

void add_trace_command(CLI::App& app, Command& command) {
  auto options = std::make_shared<TraceOptions>();
  CLI::App* sub =
      add_subcommand(app, command, "trace", "What happened last on all daemons, as a Chrome trace",
                     "fibocast trace --output barrier.json", [&command, options] { return trace(command, *options); });
  add_dir_option(*sub, options->dir);
  sub->add_option("--socket", options->sockets, "of a daemon, instead of the local cluster's; may be repeated");
  sub->add_option("--output", options->output, "the file to write")->capture_default_str();
}

}  // namespace fibocast
