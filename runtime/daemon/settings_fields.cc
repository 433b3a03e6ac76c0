#include "runtime/daemon/settings_fields.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

#include "collectives/measured_choice.h"
#include "runtime/daemon/discovered_list.h"
#include "transport/shared_inbox.h"

namespace fibocast {
namespace {

constexpr std::int64_t kHourNs = 3'600'000'000'000;

template <class T>
std::string number_text(T value) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

// A basic string of TOML.
std::string quoted_text(const std::string& value) {
  std::ostringstream out;
  const toml::value<std::string> node(value);
  out << toml::toml_formatter(node, toml::format_flags::none);
  return out.str();
}

// `at` returns a reference to the value inside the settings.
template <class T>
SettingField number(std::string key, std::string flag, std::string help, T min, T max,
                    std::function<T&(Settings&)> at) {
  SettingField field{key, flag, std::is_integral_v<T> ? SettingKind::kInteger : SettingKind::kReal, help, "", {}, {}};
  field.allowed = number_text(min) + " to " + number_text(max);
  field.set = [=](Settings& settings, const std::string& text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value >= min && value <= max)) return false;
    at(settings) = value;
    return true;
  };
  field.print = [=](const Settings& settings) { return number_text(at(const_cast<Settings&>(settings))); };
  return field;
}

template <class T>
SettingField choice(std::string key, std::string flag, std::string help, std::vector<std::pair<std::string, T>> values,
                    std::function<T&(Settings&)> at) {
  SettingField field{key, flag, SettingKind::kText, help, "", {}, {}};
  for (const auto& [name, value] : values) field.allowed += (field.allowed.empty() ? "" : ", ") + name;
  field.set = [=](Settings& settings, const std::string& text) {
    for (const auto& [name, value] : values)
      if (name == text) return at(settings) = value, true;
    return false;
  };
  field.print = [=](const Settings& settings) {
    for (const auto& [name, value] : values)
      if (value == at(const_cast<Settings&>(settings))) return "\"" + name + "\"";
    return std::string("\"\"");
  };
  return field;
}

SettingField text(std::string key, std::string flag, std::string help, std::string allowed,
                  std::function<bool(const std::string&)> good, std::function<std::string&(Settings&)> at) {
  SettingField field{key, flag, SettingKind::kText, help, allowed, {}, {}};
  field.set = [=](Settings& settings, const std::string& value) {
    if (!good(value)) return false;
    at(settings) = value;
    return true;
  };
  field.print = [=](const Settings& settings) { return quoted_text(at(const_cast<Settings&>(settings))); };
  return field;
}

SettingField truth(std::string key, std::string help, std::function<bool&(Settings&)> at) {
  SettingField field{key, "", SettingKind::kFlag, help, "true, false", {}, {}};
  field.set = [=](Settings& settings, const std::string& value) {
    at(settings) = value == "true";
    return value == "true" || value == "false";
  };
  field.print = [=](const Settings& settings) { return at(const_cast<Settings&>(settings)) ? "true" : "false"; };
  return field;
}

bool set_nodes(Settings& settings, const std::string& value) {
  settings.cluster.nodes.clear();
  std::istringstream entries(value);
  for (std::string entry; std::getline(entries, entry, ',');) {
    entry.erase(0, entry.find_first_not_of(' '));
    settings.cluster.nodes.push_back(entry.substr(0, entry.find_last_not_of(' ') + 1));
  }
  return !settings.cluster.nodes.empty();
}

std::string print_nodes(const Settings& settings) {
  std::string list;
  for (const std::string& node : settings.cluster.nodes) list += (list.empty() ? "" : ", ") + quoted_text(node);
  return "[" + list + "]";
}

bool address_or_empty(const std::string& value) { return value.empty() || parse_host_port(value).has_value(); }
bool discover_or_empty(const std::string& value) { return value.empty() || parse_discover(value).has_value(); }
bool socket_path(const std::string& value) { return !value.empty() && value.size() < 108; }  // sockaddr_un
bool path_or_empty(const std::string& value) { return value.size() <= 255; }
bool local_path(const std::string& value) {
  return value == "auto" || value == "off" || (value.starts_with('/') && value.size() <= kMaxLocalFolderBytes);
}
bool measured_choices(const std::string& value) {
  std::string error;
  return parse_measured_choices(value, error).has_value();
}
bool not_empty(const std::string& value) { return !value.empty() && value.size() <= 255; }

using Fields = std::vector<SettingField>;

void add_node_and_cluster(Fields& f) {
  f.push_back(number<NodeId>("node.rank", "--rank", "position of this daemon in cluster.nodes", 0, 65'534,
                             [](Settings& s) -> NodeId& { return s.node.rank; }));
  f.push_back(text("node.listen", "--listen", "address and port to receive on", "host:port, such as 0.0.0.0:7117",
                   address_or_empty, [](Settings& s) -> std::string& { return s.node.listen; }));
  f.push_back(text("node.advertise", "--advertise", "address by which the others reach this daemon",
                   "host:port, such as 10.0.0.13:7117", address_or_empty,
                   [](Settings& s) -> std::string& { return s.node.advertise; }));
  f.push_back(text("node.socket", "--socket", "Unix socket for local applications", "a path of 1 to 107 bytes",
                   socket_path, [](Settings& s) -> std::string& { return s.node.socket; }));
  f.push_back(text("node.discover", "--discover", "find the other daemons, and the own rank, by a name for all of them",
                   "dns:NAME or dns:NAME:PORT", discover_or_empty,
                   [](Settings& s) -> std::string& { return s.node.discover; }));
  f.push_back(number<std::uint32_t>("node.expect", "--expect", "with node.discover: so many daemons form the cluster",
                                    0, kMostDiscovered, [](Settings& s) -> std::uint32_t& { return s.node.expect; }));
  f.push_back(text("node.state", "--state", "with node.discover: folder where this daemon keeps who it is", "a path",
                   not_empty, [](Settings& s) -> std::string& { return s.node.state; }));
  f.push_back(text("cluster.name", "--name", "name of the cluster", "1 to 255 bytes", not_empty,
                   [](Settings& s) -> std::string& { return s.cluster.name; }));
  f.push_back({"cluster.nodes", "--nodes", SettingKind::kList, "host:port of every daemon; rank = position",
               "a list of host:port", set_nodes, print_nodes});
  f.push_back(choice<TransportKind>("cluster.transport", "--transport", "how daemons talk to each other",
                                    {{"udp", TransportKind::kUdp}, {"tcp", TransportKind::kTcp}},
                                    [](Settings& s) -> TransportKind& { return s.cluster.transport; }));
  f.push_back(
      text("cluster.local", "--local",
           "daemons of one host and user share memory (auto: in /dev/shm), or not; the path of a folder of their "
           "own works between containers as well",
           "auto, off, or an absolute path of at most " + number_text(kMaxLocalFolderBytes) + " bytes", local_path,
           [](Settings& s) -> std::string& { return s.cluster.local; }));
}

void add_security(Fields& f) {
  f.push_back(text("security.key_file", "--key-file",
                   "file with the cluster's key, as `fibocast key generate` makes it", "a path", path_or_empty,
                   [](Settings& s) -> std::string& { return s.security.key_file; }));
  f.push_back(choice<SecurityMode>("security.mode", "", "what is done with frames between daemons",
                                   {{"sealed", SecurityMode::kSealed},
                                    {"integrity", SecurityMode::kIntegrity},
                                    {"insecure", SecurityMode::kInsecure}},
                                   [](Settings& s) -> SecurityMode& { return s.security.mode; }));
}

void add_model(Fields& f) {
  const auto time = [&f](std::string name, std::string help, std::int64_t min,
                         Nanoseconds Settings::ModelSection::*at) {
    f.push_back(number<std::int64_t>("model." + name, "", help, min, kHourNs,
                                     [at](Settings& s) -> std::int64_t& { return s.model.*at; }));
  };
  time("s_ns", "send occupancy s the trees are optimal for", 1, &Settings::ModelSection::s_ns);
  time("l_ns", "wire latency l", 0, &Settings::ModelSection::l_ns);
  time("o_ns", "receive occupancy o", 0, &Settings::ModelSection::o_ns);
  time("r_ns", "receive latency r; 0: l + o", 0, &Settings::ModelSection::r_ns);
  const auto per_byte = [&f](std::string side, std::string shared, double Settings::ModelSection::*at) {
    f.push_back(number<double>("model." + side + "_per_byte_ns", "",
                               "time per byte at who " + side + "s; -1: 1, or " + shared +
                                   " where all nodes are on one host and share memory or fan out",
                               -1, 1e6, [at](Settings& s) -> double& { return s.model.*at; }));
  };
  per_byte("send", "0", &Settings::ModelSection::send_per_byte_ns);
  per_byte("receive", "0.15", &Settings::ModelSection::receive_per_byte_ns);
  f.push_back(number<std::uint32_t>("model.processors", "", "processors of a host that several nodes share", 1, 4096,
                                    [](Settings& s) -> std::uint32_t& { return s.model.processors; }));
  time("wake_ns", "until a processor of such a host runs a node that waited", 0, &Settings::ModelSection::wake_ns);
  f.push_back(text("model.measured", "", "what `fibocast calibrate` has measured to be the fastest",
                   "OPERATION,RANKS,BYTES=ALGORITHM, as in \"barrier,16,0=sequential\", with blanks between them",
                   measured_choices, [](Settings& s) -> std::string& { return s.model.measured; }));
}

void add_runtime(Fields& f) {
  f.push_back(choice<WaitPolicy>(
      "runtime.wait", "--wait", "how to wait for the next message",
      {{"adaptive", WaitPolicy::kAdaptive}, {"block", WaitPolicy::kBlock}, {"poll", WaitPolicy::kPoll}},
      [](Settings& s) -> WaitPolicy& { return s.wait; }));
  f.push_back(number<std::int64_t>("operations.default_deadline_ms", "", "deadline of calls that give none", 1,
                                   86'400'000, [](Settings& s) -> std::int64_t& { return s.default_deadline_ms; }));
  f.push_back(number<std::int64_t>("operations.client_grace_ms", "",
                                   "the place of an application that died is kept so long for its return", 0, 3'600'000,
                                   [](Settings& s) -> std::int64_t& { return s.client_grace_ms; }));
  f.push_back(number<std::int64_t>("detector.suspicion_ms", "", "who waits for a silent peer is told so long after", 10,
                                   3'600'000, [](Settings& s) -> std::int64_t& { return s.suspicion_ms; }));
  f.push_back(number<double>("transport.resend_floor_ms", "", "least time before a message is sent again", 0.1, 10'000,
                             [](Settings& s) -> double& { return s.resend_floor_ms; }));
  f.push_back(choice<std::string>("log.level", "--log", "what is logged",
                                  {{"trace", "trace"},
                                   {"debug", "debug"},
                                   {"info", "info"},
                                   {"warning", "warning"},
                                   {"error", "error"},
                                   {"off", "off"}},
                                  [](Settings& s) -> std::string& { return s.log.level; }));
  f.push_back(choice<LogFormat>("log.format", "", "one line each, as text or as JSON",
                                {{"text", LogFormat::kText}, {"json", LogFormat::kJson}},
                                [](Settings& s) -> LogFormat& { return s.log.format; }));
}

void add_metrics(Fields& f) {
  f.push_back(text("metrics.listen", "", "address and port of metrics and status page; empty: off",
                   "host:port, such as 127.0.0.1:9117", address_or_empty,
                   [](Settings& s) -> std::string& { return s.metrics.listen; }));
  f.push_back(truth("metrics.public", "everybody who reaches metrics.listen may read them",
                    [](Settings& s) -> bool& { return s.metrics.is_public; }));
}

void add_limits(Fields& f) {
  const auto bound = [&f](std::string name, std::string help, std::uint32_t min, std::uint32_t max,
                          std::uint32_t Limits::*at) {
    f.push_back(number<std::uint32_t>("limits." + name, "", help, min, max,
                                      [at](Settings& s) -> std::uint32_t& { return s.limits.*at; }));
  };
  bound("nodes", "daemons in the cluster", 1, 4096, &Limits::nodes);
  bound("groups", "groups a node is in at a time", 1, 65'536, &Limits::groups);
  bound("dormant_groups", "groups of all nodes that made place for others while not used, and are remembered", 0,
        1'048'576, &Limits::dormant_groups);
  bound("participants", "local participants of one group", 1, 4096, &Limits::participants);
  bound("transfers", "transfers in one rank's schedule", 8, 65'536, &Limits::transfers);
  bound("eager_bytes", "payloads up to this travel with their message", 0, 1024, &Limits::eager_bytes);
  bound("bulk_streams", "payloads on their way to or from one peer", 1, 1024, &Limits::bulk_streams);
  bound("buffers", "payload buffers at a time", 16, 1'048'576, &Limits::buffers);
  bound("requests", "calls of local applications under way", 1, 65'536, &Limits::requests);
  bound("message_credit", "messages a peer may send before one is received", 1, 1024, &Limits::message_credit);
  bound("nic_queue", "transfers waiting for the emulated NIC", 4, 1'048'576, &Limits::nic_queue);
  bound("slowest_ranks", "rows of a group's table of who comes last to barriers", 0, 4096, &Limits::slowest_ranks);
  f.push_back(number<std::uint64_t>("limits.payload_bytes", "", "all payload buffers of the node together", 4096,
                                    1ull << 40, [](Settings& s) -> std::uint64_t& { return s.limits.payload_bytes; }));
}

void add_emulation(Fields& f) {
  using E = Settings::EmulationSection;
  const auto time = [&f](std::string name, std::string help, Nanoseconds E::*at) {
    f.push_back(number<std::int64_t>("emulation." + name, "", help, 0, kHourNs,
                                     [at](Settings& s) -> std::int64_t& { return s.emulation.*at; }));
  };
  const auto real = [&f](std::string name, std::string help, double min, double E::*at) {
    f.push_back(number<double>("emulation." + name, "", help, min, 1e9,
                               [at](Settings& s) -> double& { return s.emulation.*at; }));
  };
  time("s_ns", "emulated send occupancy", &E::s_ns);
  time("l_ns", "emulated wire latency", &E::l_ns);
  time("o_ns", "emulated receive occupancy", &E::o_ns);
  real("send_per_byte_ns", "emulated time per byte at the sender", 0, &E::send_per_byte_ns);
  real("receive_per_byte_ns", "emulated time per byte at the receiver", 0, &E::receive_per_byte_ns);
  real("scale", "multiplies all emulated times", 1e-6, &E::scale);
  f.push_back(choice<NicPorts>("emulation.ports", "", "one processor for both directions, or one each",
                               {{"shared", NicPorts::kShared}, {"independent", NicPorts::kIndependent}},
                               [](Settings& s) -> NicPorts& { return s.emulation.ports; }));
  f.push_back(choice<bool>("emulation.wire", "", "into a node: any messages at a time, or one after the other",
                           {{"parallel", false}, {"serial", true}},
                           [](Settings& s) -> bool& { return s.emulation.serial_wire; }));
  const auto any = [](const std::string&) { return true; };
  f.push_back(text("emulation.mesh_links", "", "file of the links of a mesh, which the daemons of a host share",
                   "a path", any, [](Settings& s) -> std::string& { return s.emulation.mesh_links; }));
  f.push_back(number<std::uint32_t>("emulation.mesh_columns", "", "of the mesh", 1, 4096,
                                    [](Settings& s) -> std::uint32_t& { return s.emulation.mesh_columns; }));
  f.push_back(text("emulation.mesh_places", "", "where each node is: row times columns plus column", "3,0,2,1", any,
                   [](Settings& s) -> std::string& { return s.emulation.mesh_places; }));
  time("mesh_hold_ns", "a message holds its whole way so long", &E::mesh_hold_ns);
  f.push_back(truth("emulation.charge_control", "charge control frames too (not in this version)",
                    [](Settings& s) -> bool& { return s.emulation.charge_control; }));
}

void add_faults(Fields& f) {
  using F = Settings::FaultsSection;
  const auto percent = [&f](std::string name, std::string help, double F::*at) {
    f.push_back(
        number<double>("faults." + name, "", help, 0, 100, [at](Settings& s) -> double& { return s.faults.*at; }));
  };
  percent("loss_percent", "for tests: frames lost on purpose", &F::loss_percent);
  percent("duplicate_percent", "for tests: frames sent twice", &F::duplicate_percent);
  percent("reorder_percent", "for tests: frames sent late", &F::reorder_percent);
  f.push_back(number<std::uint64_t>("faults.seed", "", "for tests: replays the same faults", 0, ~0ull,
                                    [](Settings& s) -> std::uint64_t& { return s.faults.seed; }));
}

Fields make_fields() {
  Fields fields;
  add_node_and_cluster(fields);
  add_security(fields);
  add_model(fields);
  add_runtime(fields);
  add_metrics(fields);
  add_limits(fields);
  add_emulation(fields);
  add_faults(fields);
  return fields;
}

// Levenshtein's distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string SettingField::environment() const {
  std::string name = "FIBOCAST_" + key;
  for (char& c : name) c = c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::span<const SettingField> setting_fields() {
  static const Fields fields = make_fields();
  return fields;
}

const SettingField* find_setting(std::string_view key) {
  for (const SettingField& field : setting_fields())
    if (field.key == key) return &field;
  return nullptr;
}

std::string nearest_setting(std::string_view key) {
  constexpr std::size_t kLongest = 64;  // what is longer is like none of them
  const SettingField* nearest = nullptr;
  std::size_t least = SIZE_MAX;
  for (const SettingField& field : setting_fields())
    if (const std::size_t d = edit_distance(key.substr(0, kLongest), field.key); d < least) least = d, nearest = &field;
  return nearest->key;
}

}  // namespace fibocast
