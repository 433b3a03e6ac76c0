// fibocast key: makes key files, and replaces the key of a cluster while it runs.
#include <chrono>
#include <iostream>
#include <thread>

#include "runtime/cli/cluster_record.h"
#include "runtime/cli/commands.h"
#include "runtime/daemon/key_file.h"

namespace fibocast {
namespace {

constexpr auto kRenewal = std::chrono::seconds(5);  // sessions are renewed within milliseconds, where the peer lives
constexpr auto kLookAgain = std::chrono::milliseconds(20);

struct KeyOptions {
  std::string file, dir, socket, step;
  bool file_only = false;
};

Json to_json(const KeyRing& ring) {
  Json keys = Json::array();
  for (const ClusterKey& key : ring.keys()) keys.push_back(key_id_text(key.id()));
  return keys;
}

int show(const Command& command, const std::string& file, const KeyRing& ring) {
  if (command.json)
    print_json({{"status", "OK"}, {"file", file}, {"keys", to_json(ring)}});
  else if (!command.quiet)
    std::cout << file << ": key " << ring.text_of_ids() << std::endl;
  return 0;
}

// What a step of key files says when it fails.
template <class Work>
int guarded(const Command& command, Work work) try {
  return work();
} catch (const KeyError& error) {
  return report(command, {Code::kInvalid, error.what(), {}});
}

int generate(const Command& command, const std::string& file) {
  const KeyRing ring(ClusterKey::generate());
  create_key_file(file, ring);
  return show(command, file, ring);
}

// -- all daemons of a cluster

using Daemons = std::vector<std::pair<NodeId, std::shared_ptr<Client>>>;

Result<Daemons> connect_all(const KeyOptions& options) {
  Daemons daemons;
  const auto record = options.socket.empty() ? read_cluster_record(options.dir) : std::nullopt;
  if (options.socket.empty() && !record)
    return Status{
        Code::kUnavailable, "no local cluster is up in " + options.dir + "; name a daemon's socket with --socket", {}};
  std::vector<Client::Options> all;
  Client::Options one;
  one.socket_path = options.socket, one.program = "fibocast key";
  if (record) {
    for (const LocalNode& node : record->nodes)
      if (node.pid > 0) one.socket_path = node.socket, all.push_back(one);
  } else {
    auto first = Client::connect(one);
    if (!first.ok()) return first.status();
    for (NodeId node = 0; node < (*first)->size(); ++node) one.node = node, all.push_back(one);
  }
  for (const Client::Options& daemon : all) {
    auto client = Client::connect(daemon);
    if (!client.ok()) return client.status();
    daemons.emplace_back((*client)->rank(), *client);
  }
  return daemons;
}

Status of_rank(NodeId rank, const Status& status) {
  return {status.code, "rank " + std::to_string(rank) + ": " + status.sentence, {rank}};
}

// Every daemon reads its file again, and then has these keys.
Status reload(Daemons& daemons, const KeyRing& ring) {
  const Json wanted = to_json(ring);
  for (auto& [rank, client] : daemons) {
    if (const Status status = client->reload_keys(); !status.ok()) return of_rank(rank, status);
    auto node = client->status();
    if (!node.ok()) return of_rank(rank, node.status());
    if (Json(node->keys) != wanted)
      return {Code::kRefused,
              "rank " + std::to_string(rank) + " has the keys " + Json(node->keys).dump() + ", not " + wanted.dump() +
                  ": it reads another file; copy the file there, then: fibocast key reload FILE",
              {rank}};
  }
  return {};
}

// Until no session is under a former key, or the rest belongs to peers that are gone.
void wait_renewed(Daemons& daemons) {
  const auto until = std::chrono::steady_clock::now() + kRenewal;
  for (auto& [rank, client] : daemons) {
    for (;;) {
      auto node = client->status();
      if (!node.ok() || node->counters["seal_under_other_keys"] == 0) break;
      if (std::chrono::steady_clock::now() > until) return;
      std::this_thread::sleep_for(kLookAgain);
    }
  }
}

KeyRing after_step(const KeyRing& ring, const std::string& step) {
  KeyRing next = ring.copy();
  if (step == "add") {
    next.accept(ClusterKey::generate());
  } else if (step == "switch") {
    if (next.keys().size() < 2)
      throw KeyError("there is no key to switch to; first: fibocast key rotate FILE --step add");
    next.make_primary(next.keys().back().id());
  } else {
    next.drop_others();
  }
  return next;
}

Status take_step(const KeyOptions& options, Daemons& daemons, const std::string& step) {
  const KeyRing next = after_step(read_key_file(options.file), step);
  replace_key_file(options.file, next);
  if (const Status status = reload(daemons, next); !status.ok()) return status;
  if (step == "switch") wait_renewed(daemons);
  return {};
}

int rotate(const Command& command, const KeyOptions& options) {
  const std::vector<std::string> steps =
      options.step.empty() ? std::vector<std::string>{"add", "switch", "drop"} : std::vector{options.step};
  read_key_file(options.file);  // before daemons are bothered
  Daemons daemons;
  if (!options.file_only) {
    auto found = connect_all(options);
    if (!found.ok()) return report(command, found.status());
    daemons = std::move(*found);
    // They must have what is in the file, or the first step would cut them off.
    if (const Status same = reload(daemons, read_key_file(options.file)); !same.ok()) return report(command, same);
  }
  for (const std::string& step : steps)
    if (const Status status = take_step(options, daemons, step); !status.ok()) return report(command, status);
  return show(command, options.file, read_key_file(options.file));
}

int reload_all(const Command& command, const KeyOptions& options) {
  const KeyRing ring = read_key_file(options.file);
  auto daemons = connect_all(options);
  if (!daemons.ok()) return report(command, daemons.status());
  if (const Status status = reload(*daemons, ring); !status.ok()) return report(command, status);
  return show(command, options.file, ring);
}

CLI::App* add_key_subcommand(CLI::App& key, Command& command, const std::shared_ptr<KeyOptions>& options,
                             const std::string& name, const std::string& description, const std::string& example,
                             int (*run)(const Command&, const KeyOptions&)) {
  CLI::App* sub = add_subcommand(key, command, name, description, example, [&command, options, run] {
    return guarded(command, [&] { return run(command, *options); });
  });
  sub->add_option("file", options->file, "the key file")->required()->type_name("FILE");
  return sub;
}

}  // namespace

void add_key_command(CLI::App& app, Command& command) {
  CLI::App* key = app.add_subcommand("key", "The key of a cluster: make it, look at its name, replace it");
  key->require_subcommand(1);
  const auto options = std::make_shared<KeyOptions>();
  add_key_subcommand(*key, command, options, "generate", "Make a file with a new key, for all daemons of a cluster",
                     "fibocast key generate /etc/fibocast/key",
                     [](const Command& c, const KeyOptions& o) { return generate(c, o.file); });
  add_key_subcommand(*key, command, options, "show", "The names of the keys in a file; never the keys",
                     "fibocast key show /etc/fibocast/key",
                     [](const Command& c, const KeyOptions& o) { return show(c, o.file, read_key_file(o.file)); });
  CLI::App* rotation =
      add_key_subcommand(*key, command, options, "rotate",
                         "Replace the key of a running cluster whose daemons all read this file; no operation is lost",
                         "fibocast key rotate /etc/fibocast/key", rotate);
  rotation->add_option("--step", options->step, "only this one: a file is to be copied to other hosts after each")
      ->check(CLI::IsMember({"add", "switch", "drop"}));
  rotation->add_flag("--file-only", options->file_only, "change the file, tell no daemon");
  add_cluster_options(*rotation, options->dir, options->socket);
  CLI::App* again =
      add_key_subcommand(*key, command, options, "reload",
                         "All daemons read their key files again; each must then have what is in this one",
                         "fibocast key reload /etc/fibocast/key", reload_all);
  add_cluster_options(*again, options->dir, options->socket);
}

}  // namespace fibocast
