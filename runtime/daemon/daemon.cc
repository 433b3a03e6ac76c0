#include "runtime/daemon/daemon.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdio>

#include "runtime/daemon/group_planner.h"
#include "runtime/daemon/host_clock.h"
#include "runtime/daemon/node_status.h"
#include "runtime/daemon/node_trace.h"
#include "runtime/daemon/notify.h"
#include "runtime/daemon/settings_loader.h"

namespace fibocast {
namespace {

constexpr std::chrono::seconds kNamePatience{60};
constexpr std::chrono::milliseconds kDrainTick{1};
constexpr std::chrono::milliseconds kDrainTime{500};

std::unique_ptr<MeshLinks> make_mesh(const Settings& settings) {
  auto mesh = mesh_settings(settings);
  return mesh ? std::make_unique<MeshLinks>(std::move(*mesh), settings.node.rank) : nullptr;
}

NodeSettings node_settings(const Settings& settings, ClusterTransport& transport, MeshLinks* mesh) {
  NodeSettings node;
  node.self = settings.node.rank;
  node.nodes = static_cast<std::uint32_t>(settings.cluster.nodes.size());
  node.incarnation = transport.incarnation;
  node.cluster_digest = cluster_digest(settings);
  node.plan = GroupPlanner(settings).plan(node.nodes);
  node.nic = nic_settings(settings);
  if (mesh) node.nic.wire = MeshLinks::wire, node.nic.machine = mesh;
  node.suspicion = settings.suspicion_ms * 1'000'000;
  node.client_grace = settings.client_grace_ms * 1'000'000;
  node.resend_floor = static_cast<Nanoseconds>(settings.resend_floor_ms * 1e6);
  node.first_resend = std::max(node.first_resend, node.resend_floor);
  node.ahead_bytes = ahead_bytes(settings);
  return node;
}

std::string hex(std::uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

Daemon::Daemon(const Settings& settings, DiscoveryStore* store)
    : settings_(settings),
      log_(settings.log, settings.node.rank),
      addresses_(resolve_nodes(io_, settings.cluster.nodes, kNamePatience,
                               [this](const std::string& sentence) { log_.info(sentence); })),
      transport_(make_transport(io_, settings, addresses_, load_keys(settings),
                                [this](const std::string& sentence) { log_.warning(sentence); })),
      mesh_(make_mesh(settings)),
      host_(io_, transport_.top(), settings.limits, node_settings(settings, transport_, mesh_.get()), settings.wait,
            handlers()),
      operation_metrics_(settings.metrics.listen.empty() ? nullptr : std::make_unique<OperationMetrics>()),
      context_(session_context()),
      server_(io_, context_, settings.node.socket),
      relays_(io_, host_, settings.node.rank,
              [this](Relay::Socket socket) { server_.admit(std::move(socket), Session::Peer::kOther); }),
      address_watch_(io_, settings.node.rank, settings.cluster.nodes, addresses_, watch_handlers()),
      drain_timer_(io_) {
  if (operation_metrics_) serve_metrics();
  if (store) serve_discovery(*store);
}

Daemon::~Daemon() {
  if (metrics_) metrics_->stop();
  server_.close_all();
  relays_.close_all();
}

NodeHost::Handlers Daemon::handlers() {
  return {.on_call_done = [this](const Event& event) { server_.on_call_done(event); },
          .on_event = [this](const Event& event) { on_event(event); },
          .on_drained = [this] { return on_drained(); }};
}

SessionContext Daemon::session_context() {
  return {.host = host_,
          .cluster = settings_.cluster.name,
          .rank = settings_.node.rank,
          .nodes = static_cast<std::uint32_t>(settings_.cluster.nodes.size()),
          .payload_limit = settings_.limits.payload_bytes,
          .default_deadline = settings_.default_deadline_ms * 1'000'000,
          .planner = GroupPlanner(settings_),
          .clock_id = host_clock_id(),
          .set_model = [this](const client::SetModel& model) { return set_model(model); },
          .reload_keys = [this] { return reload_keys(); },
          .drain = [this] { stop(); },
          .fill_status = [this](client::NodeStatus& status) { fill_status(status); },
          .fill_trace =
              [this](std::uint64_t first, client::Trace& trace) {
                fibocast::fill_trace(host_.node(), settings_, first, host_.now(), trace);
              },
          .on_closed = {},
          .relay = [this](Relay::Socket& socket, NodeId to,
                          std::span<const std::byte> first) { return relays_.open(socket, to, first); },
          .metrics = operation_metrics_.get(),
          .counters = {},
          .response = {}};
}

AddressWatch::Handlers Daemon::watch_handlers() {
  return {.look_up = [this](const std::string& node,
                            AddressWatch::Found found) { look_up_node(io_, node, std::move(found)); },
          .is_connected = [this](NodeId peer) { return host_.node().peer_state(peer) == ChannelState::kConnected; },
          .on_moved = [this](NodeId peer, const NodeAddress& to) { on_moved(peer, to); }};
}

void Daemon::on_moved(NodeId peer, const NodeAddress& to) {
  log_.info(peer_text(peer) + " is at " + to.address.to_string() + " now");
  transport_.move_peer(peer, to);
}

void Daemon::serve_metrics() {
  metrics_ = std::make_unique<MetricsEndpoint>(io_, settings_, host_, relays_, *operation_metrics_,
                                               [this](client::NodeStatus& status) { fill_status(status); });
}

// The others go on asking: where this daemon is, whether they still have their rank, for one.
void Daemon::serve_discovery(DiscoveryStore& store) {
  DiscoveryHost::Handlers handlers{
      .is_connected = [this](NodeId peer) { return host_.node().peer_state(peer) == ChannelState::kConnected; },
      .on_moved = [this](NodeId peer, const NodeAddress& to) { on_moved(peer, to); },
      .on_replaced =
          [this] {
            log_.error(
                "rank " + std::to_string(settings_.node.rank) +
                " was given to another daemon while this one was out of reach, so it ends; start it again and it "
                "gets the next vacant rank");
            replaced_ = true;
            drain();
          },
      .on_tick = [] {},
      .on_complaint = [this](const std::string& sentence) { log_.warning(sentence); }};
  discovery_ = std::make_unique<DiscoveryHost>(io_, settings_, store, true, std::move(handlers));
  const auto& members = discovery_->discovery().list().members;
  for (NodeId peer = 0; peer < members.size(); ++peer)
    if (peer != settings_.node.rank && members[peer].at.address != addresses_[peer].address)
      transport_.move_peer(peer, members[peer].at);
}

const KeyRing* Daemon::keys() const { return transport_.sealing ? &transport_.sealing->sealer().keys() : nullptr; }

bool Daemon::run() {
  log_.info("listens on " + settings_.node.listen + " and " + settings_.node.socket + ", " +
            std::to_string(settings_.cluster.nodes.size()) + " nodes in cluster '" + settings_.cluster.name + "'");
  if (keys()) log_.info(security_text(settings_, keys()));
  if (settings_.security.mode == SecurityMode::kInsecure) log_.warning(security_text(settings_, keys()));
  using Clients = AdaptiveWait::Clients;
  host_.set_nodes_of_this_host(shared_hosts(settings_).nodes,
                               nic_settings(settings_).enabled ? Clients::kServedOnTime : Clients::kServed);
  host_.start();
  server_.start();
  relays_.start();
  address_watch_.start();
  if (discovery_) discovery_->start();
  if (metrics_) {
    metrics_->start();
    log_.info("metrics and status page are on http://" + metrics_->address() + "/");
  }
  host_.run();
  return !replaced_;
}

void Daemon::stop() {
  boost::asio::post(io_, [this] { drain(); });
}

void Daemon::reload(const Settings& settings) {
  log_.set_level(settings.log.level);
  if (keys()) reload_keys();
  const auto first_new = static_cast<NodeId>(settings_.cluster.nodes.size());
  if (!take_nodes(discovery_ ? settings_.cluster.nodes : settings.cluster.nodes)) return;
  Settings planned = settings_;
  planned.model = settings.model;
  replan_with(planned);
  log_.info("reloaded: log.level is " + settings.log.level + ", " + std::to_string(context_.nodes) +
            " nodes; groups that are opened or created from now on, and `fibocast group plan`, go by the nodes and the "
            "model as they are now; other settings change at the next start");
  for (NodeId node = first_new; node < context_.nodes; ++node) address_watch_.add(node, settings_.cluster.nodes[node]);
}

// From the file that this daemon was started with; with none, or a bad one, nothing changes. The mistake, or nothing.
std::string Daemon::reload_keys() try {
  auto found = load_keys(settings_);
  if (!found) return "this daemon has no keys: it was started without security.key_file";
  if (discovery_) discovery_->set_keys(found->copy());
  transport_.sealing->set_keys(std::move(*found));
  log_.info("the keys are read again: " + security_text(settings_, keys()));
  return {};
} catch (const SettingsError& error) {
  log_.error(std::string("the keys stay as they were: ") + error.what());
  return error.what();
}

// What is opened, created or planned from now on goes by these settings.
void Daemon::replan_with(const Settings& planned) {
  settings_ = planned;
  context_.planner = GroupPlanner(settings_);
  context_.nodes = static_cast<std::uint32_t>(settings_.cluster.nodes.size());
  if (metrics_) metrics_->set_model(settings_);
  if (transport_.sealing) transport_.sealing->sealer().set_nodes(context_.nodes);
  host_.read_clock();
  host_.node().adopt_cluster(context_.nodes, cluster_digest(settings_), context_.planner.plan(context_.nodes),
                             host_.now());
  host_.pump();
}

std::string Daemon::set_model(const client::SetModel& model) {
  Settings planned = settings_;
  planned.model = {.s_ns = model.s_ns(),
                   .l_ns = model.l_ns(),
                   .o_ns = model.o_ns(),
                   .r_ns = 0,
                   .send_per_byte_ns = model.send_per_byte_ns(),
                   .receive_per_byte_ns = model.receive_per_byte_ns(),
                   .processors = model.processors(),
                   .wake_ns = model.wake_ns(),
                   .measured = model.measured()};
  if (const auto mistake = find_model_mistake(planned)) return mistake->key + " " + mistake->sentence;
  replan_with(planned);
  log_.info("[model] is set: s " + std::to_string(model.s_ns()) + " ns, l " + std::to_string(model.l_ns()) + " ns, o " +
            std::to_string(model.o_ns()) + " ns; until SIGHUP or the end of this daemon");
  return {};
}

// Ranks are positions in the list: nodes that run keep theirs.
bool Daemon::take_nodes(const std::vector<std::string>& nodes) {
  const auto& known = settings_.cluster.nodes;
  if (nodes.size() > settings_.limits.nodes) {
    log_.error("only keys and the log's level are reloaded: cluster.nodes has " + std::to_string(nodes.size()) +
               " entries, but this daemon runs with limits.nodes = " + std::to_string(settings_.limits.nodes) +
               "; raise that in all files and start one daemon after the other anew");
    return false;
  }
  if (nodes.size() >= known.size() && std::equal(known.begin(), known.end(), nodes.begin())) {
    settings_.cluster.nodes = nodes;
    return true;
  }
  log_.error(
      "only keys and the log's level are reloaded: cluster.nodes does not begin with the list that this daemon runs "
      "with; while "
      "daemons run, add nodes at its end only");
  return false;
}

// -- events of the node

std::string Daemon::peer_text(NodeId peer) const {
  const auto& nodes = settings_.cluster.nodes;
  return "rank " + std::to_string(peer) + (peer < nodes.size() ? " (" + nodes[peer] + ")" : "");
}

namespace {

std::string lost_text(BeliefReason reason) {
  const std::string text = " is lost: ";
  if (reason == BeliefReason::kRefused) return text + "its address refuses frames, so its daemon is gone";
  if (reason == BeliefReason::kLeft) return " has left";
  if (reason == BeliefReason::kTold) return text + "so says another daemon";
  return text + "it has not answered for the suspicion time";
}

}  // namespace

void Daemon::on_event(const Event& event) {
  switch (event.kind) {
    case Event::Kind::kPeerUp: return log_.debug(peer_text(event.peer) + " is connected");
    case Event::Kind::kPeerRestarted:
      relays_.on_peer_gone(event.peer);
      newer_.erase(event.peer);
      return log_.warning(peer_text(event.peer) + " was started again");
    case Event::Kind::kPeerRefused: return on_refused(event);
    case Event::Kind::kPeerNewer: return on_newer(event.peer);
    case Event::Kind::kPeerLost:
      relays_.on_peer_gone(event.peer);
      return log_.warning(peer_text(event.peer) + lost_text(event.reason));
    case Event::Kind::kMessage: return on_message(event);
    default: return server_.on_event(event);
  }
}

void Daemon::on_message(const Event& event) {
  if (!relays_.on_message(event)) return server_.on_event(event);
  if (event.range.buffer != kNoBuffer) host_.node().release_buffer(event.range.buffer);
}

bool Daemon::on_drained() {
  const bool relayed = relays_.on_drained();
  return server_.on_drained() || relayed;
}

void Daemon::on_refused(const Event& event) {
  if (!refused_.emplace(event.peer, event.peer_digest).second) return;
  log_.warning(peer_text(event.peer) + " is refused: the digest of its cluster name, node list and model is " +
               hex(event.peer_digest) + ", here it is " + hex(cluster_digest(settings_)) +
               "; give both daemons the same [cluster], [model] and limits.transfers");
}

void Daemon::on_newer(NodeId peer) {
  if (!newer_.insert(peer).second) return;
  log_.warning(
      peer_text(peer) +
      " names an operation, an algorithm or a plan that this version (" FIBOCAST_VERSION
      ") does not know: such operations end with MISMATCH, and groups so planned are not known here; bring all "
      "daemons to one version");
}

void Daemon::fill_status(client::NodeStatus& status) {
  fill_node_status(host_.node(), settings_, status);
  add_transport_counters(transport_.counters(), status);
  if (transport_.local) add_local_counters(*transport_.local, status);
  if (transport_.sealing) add_seal_counters(transport_.sealing->sealer(), status);
  status.set_security(security_text(settings_, keys()));
  if (keys())
    for (const ClusterKey& key : keys()->keys()) status.add_keys(key_id_text(key.id()));
  auto& counters = *status.mutable_counters();
  counters["now_requests"] -= relays_.receiving();  // of applications alone
  counters["clients_accepted"] = context_.counters.accepted;
  counters["clients_strangers"] = context_.counters.strangers;
  counters["clients_garbage"] = context_.counters.garbage;
  counters["clients_turned_away"] = context_.counters.turned_away;
  counters["peers_refused"] = refused_.size();
  counters["peers_newer"] = newer_.size();
  status.set_clients(server_.clients());
  if (metrics_) status.set_metrics(metrics_->address());
}

// -- leaving

void Daemon::drain() {
  if (draining_) return;
  draining_ = true;
  notify_stopping();
  log_.info("leaves");
  host_.read_clock();
  server_.drain("this daemon is leaving; repeat it when the daemon is back");
  host_.pump();
  finish_drain(std::chrono::steady_clock::now() + kDrainTime);
}

// Clients were told that what they gave is on its way: the farewell, after which nobody listens to this node, waits
// until it is there.
void Daemon::finish_drain(std::chrono::steady_clock::time_point until) {
  if ((server_.all_written() && host_.node().is_settled()) || std::chrono::steady_clock::now() >= until) {
    host_.node().leave(host_.read_clock());
    host_.pump();
    server_.close_all();
    relays_.close_all();
    address_watch_.stop();
    if (metrics_) metrics_->stop();
    if (discovery_) discovery_->stop();
    host_.stop();
    return;
  }
  drain_timer_.expires_after(kDrainTick);
  drain_timer_.async_wait([this, until](const boost::system::error_code&) { finish_drain(until); });
}

}  // namespace fibocast
