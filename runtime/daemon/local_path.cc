#include "runtime/daemon/local_path.h"

#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace fibocast {
namespace {

std::string network_namespace() {
  struct stat status {};
  return stat("/proc/self/ns/net", &status) == 0 ? std::to_string(status.st_ino) : std::string();
}

// In a folder of its own a cluster may reach over several network namespaces, those of containers say.
bool may_share(const Settings& settings, const NodeAddress& self, const NodeAddress& peer) {
  const bool both_loopback = self.address.is_loopback() && peer.address.is_loopback();
  return settings.cluster.local != "auto" || both_loopback || self.address == peer.address;
}

}  // namespace

std::string local_folder(const Settings& settings) {
  return settings.cluster.local == "auto" ? "/dev/shm/fibocast-" + std::to_string(geteuid()) : settings.cluster.local;
}

InboxNames::InboxNames(const Settings& settings, const KeyRing* keys) : cluster_(settings.cluster.name) {
  if (settings.cluster.local == "auto") cluster_ += '\0' + network_namespace();
  if (keys == nullptr) return;
  constexpr char kPurpose[] = "fibocast names of inboxes";
  key_.resize(crypto_generichash_KEYBYTES);
  crypto_generichash(key_.data(), key_.size(), reinterpret_cast<const unsigned char*>(kPurpose), sizeof kPurpose,
                     reinterpret_cast<const unsigned char*>(keys->primary().message_key().data()),
                     keys->primary().message_key().size());
}

std::string InboxNames::of(const NodeAddress& node) const {
  const std::string text = node.address.to_string() + '\0' + std::to_string(node.port) + '\0' + cluster_;
  unsigned char hash[crypto_generichash_BYTES_MIN];
  crypto_generichash(hash, sizeof hash, reinterpret_cast<const unsigned char*>(text.data()), text.size(), key_.data(),
                     key_.size());
  char digits[2 * sizeof hash + 1];
  return sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
}

LocalPath make_local_path(boost::asio::io_context& io, Transport& inner, const Settings& settings,
                          const std::vector<NodeAddress>& nodes, const KeyRing* keys, std::uint64_t incarnation,
                          const RefusalLog::Say& warn) try {
  const NodeId self = settings.node.rank;
  const auto shares = [settings, at = nodes[self]](const NodeAddress& peer) { return may_share(settings, at, peer); };
  const auto peers = static_cast<std::uint32_t>(std::ranges::count_if(nodes, shares)) - 1;
  const bool unwanted = settings.cluster.local == "off" || settings.faults.any() || nic_settings(settings).enabled;
  if (peers == 0 || unwanted) return {};
  const std::string folder = local_folder(settings);
  prepare_local_folder(folder);
  const InboxNames names(settings, keys);
  LocalPath path;
  path.transport = std::make_unique<LocalTransport>(
      io, inner, LocalSettings{folder, names.of(nodes[self]), self, incarnation, peers});
  path.move_peer = [raw = path.transport.get(), names, shares](NodeId peer, const NodeAddress& to) {
    raw->set_peer(peer, shares(to) ? names.of(to) : std::string());
  };
  for (NodeId peer = 0; peer < nodes.size(); ++peer)
    if (peer != self) path.move_peer(peer, nodes[peer]);
  return path;
} catch (const std::system_error& error) {
  warn(std::string("cluster.local: ") + error.what() + "; nodes of this host are reached like all others");
  return {};
}

}  // namespace fibocast
