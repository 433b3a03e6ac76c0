// Every setting of a daemon: a plain struct with the defaults beside the fields. A value comes from a flag, else from
// the environment, else from the file, else it is the default; settings_loader.h finds out which, and remembers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collectives/plan.h"
#include "collectives/types.h"
#include "runtime/daemon/mesh_links.h"
#include "runtime/daemon/node_host.h"
#include "transport/emulated_nic.h"

namespace fibocast {

enum class TransportKind : std::uint8_t { kUdp, kTcp };
enum class SecurityMode : std::uint8_t { kSealed, kIntegrity, kInsecure };
enum class LogFormat : std::uint8_t { kText, kJson };

struct Settings {
  struct NodeSection {
    NodeId rank = kNoNode;  // position in cluster.nodes; may be left out in a cluster of one
    std::string
        listen;  // host:port; empty: the own entry in cluster.nodes if it is loopback, else 0.0.0.0 and its port
    std::string advertise;  // host:port; empty: the own entry in cluster.nodes, which it must equal
    std::string socket = "/run/fibocast/fibocast.sock";
    std::string discover;      // dns:NAME or dns:NAME:PORT; then rank and cluster.nodes are found out (discovery.h)
    std::uint32_t expect = 0;  // so many daemons; needed with discover
    std::string state = "/var/lib/fibocast";  // a folder of this daemon alone; used with discover
  } node;
  struct ClusterSection {
    std::string name = "fibocast";
    std::vector<std::string> nodes = {"127.0.0.1:7117"};  // host:port each
    TransportKind transport = TransportKind::kUdp;
    std::string local = "auto";  // nodes of one host share memory: in a folder of the user, in this one, or "off"
  } cluster;
  // Without a key a daemon listens on loopback only, unless the mode is kInsecure.
  struct SecuritySection {
    std::string key_file;                       // key_file.h; the same keys at all daemons
    SecurityMode mode = SecurityMode::kSealed;  // with a key: sealed, or integrity (authenticated, not encrypted)
  } security;
  struct ModelSection {
    Nanoseconds s_ns = 3000;
    Nanoseconds l_ns = 6000;
    Nanoseconds o_ns = 3000;
    Nanoseconds r_ns = 0;          // 0: l + o
    double send_per_byte_ns = -1;  // -1: not given, see byte_costs()
    double receive_per_byte_ns = -1;
    std::uint32_t processors = 1;  // of a host that several nodes share
    Nanoseconds wake_ns = 20'000;  // until a processor of such a host runs a node that waited
    std::string measured;          // what was fastest, and counts more than the model: measured_choice.h
    Nanoseconds r() const { return r_ns > 0 ? r_ns : l_ns + o_ns; }
  } model;
  WaitPolicy wait = WaitPolicy::kAdaptive;
  Limits limits = Limits::server();
  std::int64_t default_deadline_ms = 30'000;
  std::int64_t suspicion_ms = 2'000;
  std::int64_t client_grace_ms = 1'000;
  struct LogSection {
    std::string level = "info";
    LogFormat format = LogFormat::kText;
  } log;
  struct MetricsSection {
    std::string listen;      // host:port of metrics and status page; empty: off. Port 0: the system chooses one
    bool is_public = false;  // others may read them: needed for an address that is not loopback
  } metrics;
  struct EmulationSection {  // on as soon as one of the times is above 0
    Nanoseconds s_ns = 0;
    Nanoseconds l_ns = 0;
    Nanoseconds o_ns = 0;
    double send_per_byte_ns = 0;
    double receive_per_byte_ns = 0;
    double scale = 1;  // multiplies all of the above
    NicPorts ports = NicPorts::kShared;
    bool serial_wire = false;
    std::string mesh_links;  // a file: messages share the links of a mesh, which stand there
    std::uint32_t mesh_columns = 1;
    std::string mesh_places;  // of each node: "3,0,2,1"
    Nanoseconds mesh_hold_ns = 0;
    bool charge_control = false;
  } emulation;
  double resend_floor_ms = 1;
  struct FaultsSection {  // for tests: what the network is made to do
    double loss_percent = 0;
    double duplicate_percent = 0;
    double reorder_percent = 0;
    std::uint64_t seed = 1;
    bool any() const { return loss_percent > 0 || duplicate_percent > 0 || reorder_percent > 0; }
  } faults;
};

// What is wrong with settings that are each valid but do not fit together.
struct SettingsMistake {
  std::string key;
  std::string sentence;  // goes on after the key: "is 5, but ..."
};

// Fills in what follows from other settings (rank of a cluster of one, listen), then looks at all together. Of one that
// is_to_discover() only what can be known before; call it again when rank and nodes are found.
std::optional<SettingsMistake> complete_settings(Settings& settings);

// Of [model] alone, wherever it comes from.
std::optional<SettingsMistake> find_model_mistake(const Settings& settings);

// Of what a daemon with these settings would be open to; not of settings that are only read, to plan with, say.
// Precondition: complete_settings().
std::optional<SettingsMistake> find_security_mistake(const Settings& settings);

// The emulated network card, its times scaled.
NicSettings nic_settings(const Settings& settings);
// Nodes of this host reach each other through UDP sockets on loopback, where fan-outs leave together
// (transport/fan_out.h): as far as the settings tell.
bool fans_out(const Settings& settings);
// Bytes of a payload that leave before their receiver has asked for them. Much, where nodes fan out: receivers would
// ask one after the other, and what they get would not leave together any more.
std::uint32_t ahead_bytes(const Settings& settings);
// Nothing unless emulation.mesh_links is set. Precondition: settings without a mistake.
std::optional<MeshSettings> mesh_settings(const Settings& settings);
// FNV-1a of the cluster's name and node list and of all that group_planner.h plans by: daemons with another one refuse
// each other, for their groups would wait for each other along different trees.
std::uint64_t cluster_digest(const Settings& settings);

// "host:port" or "[v6]:port". The port may be 0 to 65535; nothing for anything else.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};
std::optional<HostPort> parse_host_port(const std::string& text);
// Of node.discover: the name, and the port that daemons find each other on, 7118 if none is given.
std::optional<HostPort> parse_discover(const std::string& text);
// Only this host can reach it: 127.x.y.z, ::1, localhost.
bool is_loopback(const std::string& host);
// Rank and node list are still to be found out.
bool is_to_discover(const Settings& settings);

}  // namespace fibocast
