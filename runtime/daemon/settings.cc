#include "runtime/daemon/settings.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <set>

#include "runtime/daemon/group_planner.h"

namespace fibocast {
namespace {

using Mistake = std::optional<SettingsMistake>;

Mistake check_cluster(const Settings& settings) {
  const auto& nodes = settings.cluster.nodes;
  if (nodes.empty()) return SettingsMistake{"cluster.nodes", "is empty; allowed: host:port of every daemon"};
  if (nodes.size() > settings.limits.nodes)
    return SettingsMistake{"cluster.nodes", "has " + std::to_string(nodes.size()) + " entries, but limits.nodes is " +
                                                std::to_string(settings.limits.nodes) + "; raise limits.nodes"};
  std::set<std::string> seen;
  for (const std::string& node : nodes) {
    const auto parsed = parse_host_port(node);
    if (!parsed || parsed->port == 0)
      return SettingsMistake{"cluster.nodes", "has '" + node + "'; allowed: host:port with a port from 1 to 65535"};
    if (!seen.insert(node).second) return SettingsMistake{"cluster.nodes", "names '" + node + "' twice"};
  }
  return {};
}

Mistake complete_discovery(Settings& settings) {
  const auto& node = settings.node;
  if (node.expect == 0)
    return SettingsMistake{"node.expect",
                           "is not set; with node.discover give the number of daemons that form the cluster"};
  if (node.expect > settings.limits.nodes)
    return SettingsMistake{"node.expect", "is " + std::to_string(node.expect) + ", but limits.nodes is " +
                                              std::to_string(settings.limits.nodes) + "; raise limits.nodes"};
  if (settings.cluster.nodes != Settings{}.cluster.nodes)
    return SettingsMistake{"cluster.nodes", "is given, but node.discover finds the nodes; leave one of them out"};
  if (settings.node.listen.empty()) settings.node.listen = "0.0.0.0:7117";
  if (parse_host_port(node.listen)->port == parse_discover(node.discover)->port)
    return SettingsMistake{"node.discover", "has the port of node.listen; allowed: another one, as dns:NAME:7118"};
  return {};
}

Mistake complete_node(Settings& settings) {
  const auto& nodes = settings.cluster.nodes;
  if (settings.node.rank == kNoNode && nodes.size() == 1) settings.node.rank = 0;
  if (settings.node.rank == kNoNode)
    return SettingsMistake{"node.rank", "is not set; give the position of this daemon in cluster.nodes, 0 to " +
                                            std::to_string(nodes.size() - 1)};
  if (settings.node.rank >= nodes.size())
    return SettingsMistake{"node.rank", "is " + std::to_string(settings.node.rank) + ", but cluster.nodes has " +
                                            std::to_string(nodes.size()) + " entries; allowed: 0 to " +
                                            std::to_string(nodes.size() - 1)};
  const std::string& own = nodes[settings.node.rank];
  const HostPort own_parts = *parse_host_port(own);
  if (settings.node.listen.empty())
    settings.node.listen = is_loopback(own_parts.host) ? own : "0.0.0.0:" + std::to_string(own_parts.port);
  if (settings.node.advertise.empty()) settings.node.advertise = own;
  if (settings.node.advertise != own)
    return SettingsMistake{"node.advertise", "is '" + settings.node.advertise + "', but the others will use '" + own +
                                                 "' of cluster.nodes; make them equal or leave it out"};
  return {};
}

Mistake check_emulation(const Settings& settings) {
  if (settings.emulation.charge_control)
    return SettingsMistake{"emulation.charge_control", "is true, which this version cannot do; allowed: false"};
  if (settings.emulation.mesh_links.empty()) return {};
  const auto places = parse_places(settings.emulation.mesh_places, settings.emulation.mesh_columns);
  if (!places || places->size() != settings.cluster.nodes.size())
    return SettingsMistake{"emulation.mesh_places",
                           "does not place the " + std::to_string(settings.cluster.nodes.size()) +
                               " nodes; allowed: 0 to " + std::to_string(settings.cluster.nodes.size() - 1) +
                               " in any order, full rows of emulation.mesh_columns"};
  return {};
}

std::uint64_t fnv1a(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return (hash ^ 0xff) * 0x100000001b3ull;  // no byte of UTF-8: the end of the text
}

std::string planned_by(const Settings& settings) {
  const Settings::ModelSection& m = settings.model;
  std::string text;
  for (const Nanoseconds time : {m.s_ns, m.r(), std::min(m.o_ns, m.r()), m.wake_ns}) text += std::to_string(time) + " ";
  const ByteCosts bytes = byte_costs(settings);
  for (const double cost : {bytes.send, bytes.receive}) text += std::to_string(cost) + " ";
  for (const std::uint32_t bound : {m.processors, settings.limits.transfers, settings.limits.stages})
    text += std::to_string(bound) + " ";
  if (fans_out(settings)) text += "fans out ";
  return text + m.measured + (nic_settings(settings).enabled ? " emulated " : " ") +
         (settings.emulation.ports == NicPorts::kShared ? "shared" : "independent");
}

Nanoseconds scaled(double time, double scale) { return static_cast<Nanoseconds>(time * scale + 0.5); }

}  // namespace

std::optional<SettingsMistake> find_model_mistake(const Settings& settings) {
  const Settings::ModelSection& m = settings.model;
  constexpr Nanoseconds kHour = 3'600'000'000'000;
  constexpr double kSlowest = 1e6;  // ns per byte
  if (m.s_ns < 1 || std::max({m.s_ns, m.l_ns, m.o_ns, m.r_ns, m.wake_ns}) > kHour ||
      std::min({m.l_ns, m.o_ns, m.r_ns, m.wake_ns}) < 0)
    return SettingsMistake{"model.s_ns",
                           "or another time of [model] is out of range; allowed: s above 0, up to an hour"};
  const auto [send, receive] = byte_costs(settings);
  if (!(send >= 0 && send <= kSlowest && receive >= 0 && receive <= kSlowest))
    return SettingsMistake{"model.send_per_byte_ns", "or model.receive_per_byte_ns is not from 0 to 1000000"};
  if (m.processors < 1 || m.processors > 4096) return SettingsMistake{"model.processors", "is not from 1 to 4096"};
  if (std::string why; !parse_measured_choices(m.measured, why))
    return SettingsMistake{"model.measured", "has a wrong entry: " + why};
  if (m.r() < 1) return SettingsMistake{"model.l_ns", "and model.o_ns are both 0; allowed: r = l + o > 0"};
  if (!is_plannable(settings))
    return SettingsMistake{"model.s_ns",
                           "and the other costs of [model] are so large that times overflow; allowed: s, l "
                           "and o up to some minutes, 1 us per byte"};
  return {};
}

namespace {

Mistake find_open_metrics(const Settings& settings) {
  const std::string& listen = settings.metrics.listen;
  if (listen.empty() || settings.metrics.is_public || is_loopback(parse_host_port(listen)->host)) return {};
  return SettingsMistake{"metrics.listen", "is " + listen +
                                               ", where others could read metrics and status page; give a loopback "
                                               "address, or let everybody read them by --metrics.public true"};
}

}  // namespace

std::optional<SettingsMistake> find_security_mistake(const Settings& settings) {
  if (auto mistake = find_open_metrics(settings)) return mistake;
  const auto& security = settings.security;
  const bool insecure = security.mode == SecurityMode::kInsecure;
  if (insecure && !security.key_file.empty())
    return SettingsMistake{"security.mode", "is insecure, but security.key_file is given; leave one of them out"};
  if (!security.key_file.empty() || insecure) return {};
  if (security.mode == SecurityMode::kIntegrity)
    return SettingsMistake{"security.mode", "is integrity, which needs a key; give security.key_file"};
  if (is_loopback(parse_host_port(settings.node.listen)->host)) return {};
  return SettingsMistake{
      "security.key_file",
      "is not set, but others could reach this daemon on " + settings.node.listen +
          "; make a key by `fibocast key generate FILE` and give all daemons that file by --key-file "
          "FILE, or let everybody in by --insecure"};
}

std::optional<HostPort> parse_host_port(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return {};
  HostPort out;
  out.host = text.substr(0, colon);
  const bool bracketed = out.host.front() == '[' && out.host.back() == ']';
  if (bracketed) out.host = out.host.substr(1, out.host.size() - 2);
  if (out.host.empty() || (!bracketed && out.host.find(':') != std::string::npos)) return {};
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data() + colon + 1, end, out.port);
  if (error != std::errc{} || at != end) return {};
  return out;
}

std::optional<HostPort> parse_discover(const std::string& text) {
  constexpr std::string_view kScheme = "dns:";
  if (!text.starts_with(kScheme)) return {};
  const std::string rest = text.substr(kScheme.size());
  if (rest.empty() || rest.find_first_of(" []/") != std::string::npos) return {};
  if (rest.find(':') == std::string::npos) return HostPort{rest, 7118};
  const auto found = parse_host_port(rest);
  return found && found->port > 0 ? found : std::nullopt;
}

bool is_loopback(const std::string& host) {
  if (host == "localhost") return true;
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  return !error && address.is_loopback();
}

bool is_to_discover(const Settings& settings) {
  return !settings.node.discover.empty() && settings.node.rank == kNoNode;
}

std::optional<SettingsMistake> complete_settings(Settings& settings) {
  if (is_to_discover(settings)) {
    if (auto mistake = complete_discovery(settings)) return mistake;
  } else {
    if (auto mistake = check_cluster(settings)) return mistake;
    if (auto mistake = complete_node(settings)) return mistake;
  }
  if (auto mistake = find_model_mistake(settings)) return mistake;
  return check_emulation(settings);
}

NicSettings nic_settings(const Settings& settings) {
  const auto& e = settings.emulation;
  NicSettings nic;
  nic.send = scaled(double(e.s_ns), e.scale);
  nic.latency = scaled(double(e.l_ns), e.scale);
  nic.receive = scaled(double(e.o_ns), e.scale);
  nic.send_per_byte = e.send_per_byte_ns * e.scale;
  nic.receive_per_byte = e.receive_per_byte_ns * e.scale;
  nic.ports = e.ports;
  nic.serial_wire = e.serial_wire;
  nic.enabled = nic.send > 0 || nic.latency > 0 || nic.receive > 0 || nic.send_per_byte > 0 || nic.receive_per_byte > 0;
  return nic;
}

bool fans_out(const Settings& settings) {
  const Settings::ClusterSection& c = settings.cluster;
  const auto first = c.nodes.empty() ? std::nullopt : parse_host_port(c.nodes.front());
  const bool on_loopback = first && (first->host == "localhost" || first->host.starts_with("127."));
  return on_loopback && c.local == "off" && c.transport == TransportKind::kUdp && !settings.faults.any() &&
         !nic_settings(settings).enabled;
}

std::uint32_t ahead_bytes(const Settings& settings) {
  return fans_out(settings) ? 1 << 20 : NodeSettings().ahead_bytes;
}

std::optional<MeshSettings> mesh_settings(const Settings& settings) {
  const auto& e = settings.emulation;
  if (e.mesh_links.empty()) return std::nullopt;
  return MeshSettings{e.mesh_links, e.mesh_columns, parse_places(e.mesh_places, e.mesh_columns).value(),
                      scaled(double(e.mesh_hold_ns), e.scale), scaled(double(e.l_ns), e.scale)};
}

std::uint64_t cluster_digest(const Settings& settings) {
  std::uint64_t hash = fnv1a(0xcbf29ce484222325ull, settings.cluster.name);
  for (const std::string& node : settings.cluster.nodes) hash = fnv1a(hash, node);
  return fnv1a(hash, planned_by(settings));
}

}  // namespace fibocast
