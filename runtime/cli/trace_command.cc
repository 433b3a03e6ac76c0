// fibocast trace: the flight recorders of the daemons in one file.
#include <algorithm>
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

Client::Options daemon_at(const std::string& socket, std::optional<NodeId> node = {}) {
  Client::Options options;
  options.socket_path = socket, options.program = "fibocast trace", options.node = node;
  return options;
}

// Those that were named, else those of the local cluster.
Result<std::vector<Client::Options>> daemons_of(const TraceOptions& options) {
  std::vector<Client::Options> daemons;
  const auto record = options.sockets.empty() ? read_cluster_record(options.dir) : std::nullopt;
  if (options.sockets.empty() && !record)
    return Status{
        Code::kUnavailable, "no local cluster is up in " + options.dir + "; name a daemon's socket with --socket", {}};
  if (record) {
    for (const LocalNode& node : record->nodes)
      if (node.pid > 0) daemons.push_back(daemon_at(node.socket));
  } else if (options.sockets.size() == 1) {
    auto first = Client::connect(options.sockets[0]);
    if (!first.ok()) return first.status();
    for (NodeId node = 0; node < (*first)->size(); ++node) daemons.push_back(daemon_at(options.sockets[0], node));
  } else {
    for (const std::string& socket : options.sockets) daemons.push_back(daemon_at(socket));
  }
  return daemons;
}

struct Gathered {
  std::vector<NodeTrace> traces;
  std::vector<std::string> silent;  // sentences
  Nanoseconds clock_bound = 0;      // of times of other hosts, put on our clock
};

// Times are of our clock.
Result<NodeTrace> read_trace(const Client::Options& daemon, Nanoseconds& clock_bound) {
  auto client = Client::connect(daemon);
  if (!client.ok()) return client.status();
  auto clock = measure_clock_offset(**client);
  if (!clock.ok()) return clock.status();
  auto trace = (*client)->trace();
  if (!trace.ok()) return trace.status();
  for (FlightEvent& event : trace->events) event.at -= clock->offset;
  clock_bound = std::max(clock_bound, clock->bound_at(trace->events.empty() ? clock->measured : trace->events[0].at));
  return trace;
}

Gathered gather(const std::vector<Client::Options>& daemons) {
  Gathered gathered;
  for (const Client::Options& daemon : daemons) {
    auto trace = read_trace(daemon, gathered.clock_bound);
    const std::string who = daemon.node ? "rank " + std::to_string(*daemon.node) : daemon.socket_path;
    if (trace.ok())
      gathered.traces.push_back(std::move(*trace));
    else
      gathered.silent.push_back(who + ": " + trace.status().sentence);
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
          {"clock_bound_ns", gathered.clock_bound},
          {"operations", story.operations.size()},
          {"whole_operations", whole}};
}

void print_summary(const Json& s) {
  const double seconds = (s["to_ns"].get<double>() - s["from_ns"].get<double>()) / 1e9;
  std::cout << "The last " << s["events"] << " events of " << s["daemons"] << " daemons; all of them cover "
            << std::max(seconds, 0.0) << " s with " << s["whole_operations"] << " whole operations.\n"
            << "Older events that were overwritten: " << s["overwritten"] << ".\n";
  if (s["clock_bound_ns"] > 0)
    std::cout << "Times of other hosts are right to within " << s["clock_bound_ns"].get<double>() / 1e3 << " us.\n";
  std::cout << "Written to " << s["file"].get<std::string>() << "; https://ui.perfetto.dev opens it." << std::endl;
}

int trace(const Command& command, const TraceOptions& options) {
  auto daemons = daemons_of(options);
  if (!daemons.ok()) return report(command, daemons.status());
  const Gathered gathered = gather(*daemons);
  if (gathered.traces.empty()) {
    const std::string why = gathered.silent.empty() ? "the cluster has no daemons" : gathered.silent.front();
    return report(command, {Code::kUnavailable, "no daemon answers; " + why, {}});
  }
  const TraceStory story = tell_story(gathered.traces);
  const Status written = write_file(options.output, trace_file(gathered.traces, story).dump() + "\n");
  if (!written.ok()) return report(command, written);
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
  sub->add_option("--socket", options->sockets,
                  "a daemon of any cluster; the others are reached through it, unless theirs are named as well");
  sub->add_option("--output", options->output, "the file to write")->capture_default_str();
}

}  // namespace fibocast
