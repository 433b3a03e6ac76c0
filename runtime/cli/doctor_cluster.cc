#include "runtime/cli/doctor.h"
#include "runtime/cli/version_text.h"
#include "runtime/daemon/key_file.h"
#include "runtime/daemon/security.h"

namespace fibocast {
namespace {

std::uint64_t counter(const NodeInfo& node, const std::string& name) {
  const auto found = node.counters.find(name);
  return found == node.counters.end() ? 0 : found->second;
}

std::string enumerated(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// Of frames that were sealed under another key, or not at all.
std::uint64_t refused_frames(const NodeInfo& node) {
  return counter(node, "seal_refused_not_sealed") + counter(node, "seal_refused_unknown_key") +
         counter(node, "seal_refused_other_cluster") + counter(node, "seal_refused_other_mode");
}

Check check_keys_of_daemon(const NodeInfo& node) {
  if (node.security.starts_with("INSECURE"))
    return {"key", Health::kWarning, node.security, "fibocast key generate FILE, and security.key_file at all daemons"};
  if (const auto refused = refused_frames(node); refused > 0)
    return {"key", Health::kWarning,
            node.security + "; " + std::to_string(refused) + " frames with another key, name or mode were refused",
            "its log names whose; give all daemons the same security.key_file, cluster.name and security.mode"};
  return {"key", Health::kOk, node.security};
}

Check check_key_file(const std::string& file, const std::optional<NodeInfo>& node) try {
  const KeyRing ring = read_key_file(file);
  std::vector<std::string> names;
  for (const ClusterKey& key : ring.keys()) names.push_back(key_id_text(key.id()));
  if (node && node->keys != names)
    return {"key", Health::kWrong,
            file + " has key " + enumerated(names) + ", but the daemon has " +
                (node->keys.empty() ? "none" : enumerated(node->keys)),
            node->keys.empty() ? "start the daemon again" : "fibocast key reload " + file};
  if (node) return check_keys_of_daemon(*node);
  return {"key", Health::kOk, file + " has key " + enumerated(names) + ", and only its owner may read it"};
} catch (const KeyError& error) {
  return {"key", Health::kWrong, error.what(), "give a key file, as security.key_file"};
}

std::string ago(const Patient& patient, NodeId peer) {
  const auto since = patient.since.find(peer);
  if (since == patient.since.end()) return {};
  return ", for " + std::to_string(since->second / 1'000'000'000) + " s";
}

std::string remedy_of(const PeerInfo& peer) {
  if (peer.state == "refused")
    return "give both daemons the same [cluster], [model] and limits.transfers; its log has digests";
  if (peer.state == "lost") return "start its daemon again, there or elsewhere under the same name and rank";
  return "see whether its daemon runs and a firewall lets its port through: fibocast doctor on its host";
}

}  // namespace

bool Patient::uses_udp() const {
  return node ? node->transport == "udp" : settings && settings->cluster.transport == TransportKind::kUdp;
}

std::map<NodeId, std::string> Patient::peers() const {
  std::map<NodeId, std::string> peers;
  if (node) {
    for (const PeerInfo& peer : node->peers) peers[peer.rank] = peer.address;
  } else if (settings && !is_to_discover(*settings)) {
    for (NodeId rank = 0; rank < settings->cluster.nodes.size(); ++rank)
      if (rank != settings->node.rank) peers[rank] = settings->cluster.nodes[rank];
  }
  return peers;
}

Check check_same_settings(const Patient& patient) {
  const Settings& settings = *patient.settings;
  const NodeInfo& node = *patient.node;
  std::vector<std::string> differences;
  const auto compare = [&](const std::string& key, const std::string& wanted, const std::string& has) {
    if (wanted != has) differences.push_back(key + " is " + wanted + ", but the daemon runs with " + has);
  };
  compare("cluster.name", settings.cluster.name, node.cluster);
  compare("cluster.transport", settings.cluster.transport == TransportKind::kTcp ? "tcp" : "udp", node.transport);
  if (!is_to_discover(settings)) {
    compare("node.rank", std::to_string(settings.node.rank), std::to_string(node.rank));
    compare("the number of cluster.nodes", std::to_string(settings.cluster.nodes.size()), std::to_string(node.size));
  }
  if (differences.empty()) return {"settings", Health::kOk, patient.file + " is what the daemon runs with"};
  return {"settings", Health::kWrong, patient.file + ": " + enumerated(differences),
          "start the daemon again, or send it SIGHUP if nodes were added; or name its own file with --config"};
}

Check check_key(const Patient& patient) {
  if (patient.settings && !patient.settings->security.key_file.empty())
    return check_key_file(patient.settings->security.key_file, patient.node);
  if (patient.node) return check_keys_of_daemon(*patient.node);
  if (patient.settings->security.mode == SecurityMode::kInsecure)
    return {"key", Health::kWarning, security_text(*patient.settings, nullptr),
            "fibocast key generate FILE, and security.key_file at all daemons"};
  return {"key", Health::kOk, security_text(*patient.settings, nullptr)};
}

Checks check_peers(const Patient& patient) {
  Checks checks;
  for (const PeerInfo& peer : patient.node->peers)
    if (peer.state != "connected")
      checks.push_back(
          {"reachability", peer.state == "connecting" ? Health::kWarning : Health::kWrong,
           "rank " + std::to_string(peer.rank) + " (" + peer.address + ") is " + peer.state + ago(patient, peer.rank),
           remedy_of(peer)});
  if (checks.empty())
    checks.push_back(
        {"reachability", Health::kOk, "all " + std::to_string(patient.node->peers.size()) + " peers are connected"});
  if (const std::string newer = newer_daemons_text(*patient.node); !newer.empty())
    checks.push_back({"version", Health::kWarning, newer, "bring all daemons to one version: stop all, start all"});
  return checks;
}

}  // namespace fibocast
