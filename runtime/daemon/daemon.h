// A whole daemon in one object: sockets, node, local clients, log. fibocastd is this and signals; tests run several.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/daemon/address_watch.h"
#include "runtime/daemon/cluster_addresses.h"
#include "runtime/daemon/discovery_host.h"
#include "runtime/daemon/log.h"
#include "runtime/daemon/make_transport.h"
#include "runtime/daemon/metrics/metrics_endpoint.h"
#include "runtime/daemon/node_host.h"
#include "runtime/daemon/relays.h"
#include "runtime/daemon/session_server.h"
#include "runtime/daemon/settings.h"

namespace fibocast {

class Daemon {
 public:
  // Takes the port and the socket. `settings` are complete (load_settings(), discover()). `store`: of a daemon that
  // found its rank by discovery; it outlives this. Throws SettingsError: one sentence.
  explicit Daemon(const Settings& settings, DiscoveryStore* store = nullptr);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Serves until stop(). One thread.
  // False: it ended by itself, for its rank is another daemon's now; the log says so.
  bool run();
  // Drains and ends run(), within half a second: no more clients, what is under way is answered CODE_CANCELLED,
  // the socket file is removed, and the others get what clients were told is on its way. From any thread.
  void stop();
  // What can change while it runs: the log's level, the model that groups are planned by, the keys in the key file, and
  // nodes that were added at the end of the list. In the thread of run().
  void reload(const Settings& settings);

  boost::asio::io_context& context() { return io_; }
  Log& log() { return log_; }

 private:
  NodeHost::Handlers handlers();
  SessionContext session_context();
  AddressWatch::Handlers watch_handlers();
  std::string reload_keys();
  const KeyRing* keys() const;
  void replan_with(const Settings& planned);
  std::string set_model(const client::SetModel& model);
  void serve_metrics();
  void serve_discovery(DiscoveryStore& store);
  void on_moved(NodeId peer, const NodeAddress& to);
  bool take_nodes(const std::vector<std::string>& nodes);
  void on_event(const Event& event);
  void on_message(const Event& event);
  bool on_drained();
  void on_refused(const Event& event);
  void on_newer(NodeId peer);
  std::string peer_text(NodeId peer) const;
  void fill_status(client::NodeStatus& status);
  void drain();
  void finish_drain(std::chrono::steady_clock::time_point until);

  Settings settings_;
  Log log_;
  boost::asio::io_context io_{1};
  std::vector<NodeAddress> addresses_;
  ClusterTransport transport_;
  std::unique_ptr<MeshLinks> mesh_;  // null unless a mesh is emulated
  NodeHost host_;
  std::unique_ptr<OperationMetrics> operation_metrics_;  // null without metrics.listen
  SessionContext context_;
  SessionServer server_;
  Relays relays_;
  std::unique_ptr<MetricsEndpoint> metrics_;  // null without metrics.listen
  AddressWatch address_watch_;
  std::unique_ptr<DiscoveryHost> discovery_;  // null without node.discover
  boost::asio::steady_timer drain_timer_;
  bool draining_ = false, replaced_ = false;
  std::set<std::pair<NodeId, std::uint64_t>> refused_;  // peer and digest: each is logged once
  std::set<NodeId> newer_;                              // ... and these
};

}  // namespace fibocast
