// fibocast doctor: what is wrong with a daemon's settings and surroundings, a line for each check.
#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>

#include "runtime/cli/cluster_record.h"
#include "runtime/cli/commands.h"
#include "runtime/cli/doctor.h"
#include "runtime/daemon/node_host.h"
#include "runtime/daemon/settings_loader.h"

namespace fibocast {
namespace {

struct DoctorOptions {
  DaemonChoice daemon;
  std::string config;
};

const char* no_environment(const char*) { return nullptr; }

const char* health_text(Health health) {
  switch (health) {
    case Health::kOk: return "ok";
    case Health::kWarning: return "warning";
    case Health::kWrong: break;
  }
  return "wrong";
}

// -- what is known

// The file alone: what was added by flags and the environment, the daemon itself knows.
Check read_settings(Patient& patient) try {
  const LoadedSettings loaded = load_settings(patient.file, no_environment, {});
  check_security(loaded);
  patient.settings = loaded.settings;
  return {"settings", Health::kOk, patient.file + " is good"};
} catch (const SettingsError& error) {
  return {"settings", Health::kWrong, error.what(),
          "correct it, then: fibocastd --check-config --config " + patient.file};
}

// Of each peer only the last change counts.
void read_since(Client& client, Patient& patient) {
  auto trace = client.trace();
  auto clock = client.clock();
  if (!trace.ok() || !clock.ok()) return;
  for (const FlightEvent& event : trace->events)
    if (event.kind >= FlightEvent::Kind::kPeerUp && event.kind <= FlightEvent::Kind::kPeerLost)
      patient.since[event.peer] = clock->now - event.at;
}

void read_clocks(const std::string& socket, Patient& patient) {
  for (const PeerInfo& peer : patient.node->peers) {
    if (peer.state != "connected") continue;
    Client::Options options;
    options.socket_path = socket, options.program = "fibocast doctor", options.node = peer.rank;
    auto client = Client::connect(options);
    if (!client.ok()) continue;
    if (auto offset = measure_clock_offset(**client, 20); offset.ok())
      patient.clocks[peer.rank] = {.same = offset->bound == 0, .bound = offset->bound};
  }
}

Status read_node(const std::string& socket, Patient& patient) {
  auto client = Client::connect(socket);
  if (!client.ok()) return client.status();
  auto node = (*client)->status();
  if (!node.ok()) return node.status();
  patient.node = *node;
  read_since(**client, patient);
  read_clocks(socket, patient);
  return {};
}

// -- all checks

Check check_daemon(const Patient& patient, const Status& status) {
  if (!patient.node)
    return {"daemon", Health::kWarning, status.sentence, "start it: fibocastd --config " + patient.file};
  const NodeInfo& node = *patient.node;
  return {"daemon", Health::kOk,
          "rank " + std::to_string(node.rank) + " of " + std::to_string(node.size) + " in cluster '" + node.cluster +
              "' over " + node.transport + ", fibocastd " + node.version + ", process " + std::to_string(node.pid)};
}

void append(Checks& checks, const Checks& more) { checks.insert(checks.end(), more.begin(), more.end()); }

Checks examine(const Patient& patient, const Check& settings, const Status& daemon) {
  Checks checks = {check_daemon(patient, daemon)};
  if (!patient.file.empty())
    checks.push_back(patient.settings && patient.node ? check_same_settings(patient) : settings);
  if (!patient.settings && !patient.node) return checks;
  checks.push_back(check_port(patient));
  checks.push_back(check_key(patient));
  append(checks, check_mtu(patient));
  checks.push_back(check_clock(patient));
  if (patient.node) append(checks, check_peers(patient));
  checks.push_back(check_receive_buffer(patient));
  checks.push_back(check_shared_memory(patient));
  return checks;
}

Json to_json(const Patient& patient, const Checks& checks, bool wrong) {
  Json json{{"status", wrong ? "FAILED" : "OK"}, {"checks", Json::array()}, {"peers", Json::array()}};
  for (const Check& check : checks) {
    Json line{{"check", check.name}, {"health", health_text(check.health)}, {"found", check.found}};
    if (!check.remedy.empty()) line["remedy"] = check.remedy;
    json["checks"].push_back(line);
  }
  if (!patient.node) return json;
  for (const PeerInfo& peer : patient.node->peers) {
    Json line{{"rank", peer.rank}, {"address", peer.address}, {"state", peer.state}};
    if (const auto since = patient.since.find(peer.rank); since != patient.since.end())
      line["since_ns"] = since->second;
    if (const auto clock = patient.clocks.find(peer.rank); clock != patient.clocks.end())
      line["clock_bound_ns"] = clock->second.bound;
    json["peers"].push_back(line);
  }
  return json;
}

// Quiet: only what is not well.
void print(const Command& command, const Checks& checks) {
  for (const Check& check : checks) {
    if (command.quiet && check.health == Health::kOk) continue;
    std::cout << std::left << std::setw(9) << health_text(check.health) << std::setw(16) << check.name << check.found;
    if (!check.remedy.empty()) std::cout << "; " << check.remedy;
    std::cout << "\n";
  }
  std::cout << std::flush;
}

int doctor(const Command& command, const DoctorOptions& options) {
  Patient patient;
  patient.file = options.config;
  if (patient.file.empty() && options.daemon.rank)
    if (const auto own = node_path(options.daemon.dir, *options.daemon.rank, "toml"); std::filesystem::exists(own))
      patient.file = own;
  Check settings;
  if (!patient.file.empty()) settings = read_settings(patient);
  auto socket = find_socket(options.daemon);
  if (!socket.ok() && patient.settings) socket = patient.settings->node.socket;
  const Status daemon = socket.ok() ? read_node(*socket, patient) : socket.status();
  if (!daemon.ok() && options.config.empty()) return report(command, daemon);
  const Checks checks = examine(patient, settings, daemon);
  const bool wrong = std::ranges::any_of(checks, [](const Check& c) { return c.health == Health::kWrong; });
  if (command.json)
    print_json(to_json(patient, checks, wrong));
  else
    print(command, checks);
  return wrong ? 1 : 0;
}

}  // namespace

void add_doctor_command(CLI::App& app, Command& command) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* sub = add_subcommand(app, command, "doctor",
                                 "What is wrong with a daemon's settings and surroundings: port, key, MTU, clock, "
                                 "peers; exit code 1 if something is",
                                 "fibocast doctor --config /etc/fibocast/node.toml",
                                 [&command, options] { return doctor(command, *options); });
  sub->add_option("--config", options->config, "its file of settings, which may be looked at before it runs")
      ->type_name("FILE");
  add_daemon_options(*sub, options->daemon);
}

}  // namespace fibocast
