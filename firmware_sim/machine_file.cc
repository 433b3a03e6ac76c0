#include "firmware_sim/machine_file.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <variant>

#include "firmware_sim/toml_reader.h"

namespace fibocast {
namespace {

using enum NetworkKind;
using Description = MachineDescription;

constexpr std::array<std::string_view, 5> kNetworkNames = {"ideal", "crossbar", "mesh", "fat-tree", "workstations"};

struct Parameter {
  NetworkKind network;
  std::string_view name;
  std::variant<Rational Description::*, std::uint64_t Description::*, bool Description::*, std::string Description::*>
      field;
};

const std::array kParameters = {
    Parameter{kIdeal, "nodes", &Description::nodes},
    Parameter{kIdeal, "latency", &Description::latency},
    Parameter{kCrossbar, "nodes", &Description::nodes},
    Parameter{kCrossbar, "cluster_nodes", &Description::cluster_nodes},
    Parameter{kCrossbar, "latency", &Description::latency},
    Parameter{kCrossbar, "far_latency", &Description::far_latency},
    Parameter{kCrossbar, "far_send", &Description::far_send},
    Parameter{kMesh, "rows", &Description::rows},
    Parameter{kMesh, "columns", &Description::columns},
    Parameter{kMesh, "wormhole", &Description::wormhole},
    Parameter{kMesh, "hold", &Description::hold},
    Parameter{kMesh, "hold_per_byte", &Description::hold_per_byte},
    Parameter{kMesh, "latency", &Description::latency},
    Parameter{kMesh, "latency_per_byte", &Description::latency_per_byte},
    Parameter{kMesh, "latency_bytes", &Description::latency_bytes},
    Parameter{kMesh, "per_hop", &Description::per_hop},
    Parameter{kFatTree, "nodes", &Description::nodes},
    Parameter{kFatTree, "capacity", &Description::capacity},
    Parameter{kFatTree, "step", &Description::step},
    Parameter{kFatTree, "packet_bytes", &Description::packet_bytes},
    Parameter{kWorkstations, "nodes", &Description::nodes},
    Parameter{kWorkstations, "latency", &Description::latency},
    Parameter{kWorkstations, "latency_per_byte", &Description::latency_per_byte},
};

struct NodeField {
  std::string_view name;
  Rational NodeKind::*field;
};
constexpr std::array kNodeFields = {NodeField{"send", &NodeKind::send}, NodeField{"occupancy", &NodeKind::occupancy},
                                    NodeField{"send_per_byte", &NodeKind::send_per_byte},
                                    NodeField{"occupancy_per_byte", &NodeKind::occupancy_per_byte}};

// "" for what is neither a text nor a whole number.
std::string number_text(const toml::node& node) {
  if (node.is_integer()) return std::to_string(*node.value<std::int64_t>());
  return node.is_string() ? *node.value<std::string>() : "";
}

class MachineReader : private TomlReader {
 public:
  explicit MachineReader(const std::string& name) : TomlReader(name) { made_.name = name; }

  Description read(std::string_view text) {
    const toml::table file = parse(text);
    only(file, "", {"note", "ports", "node", "kinds", "network"});
    if (const toml::node* note = file.get("note")) made_.note = words(*note, "note");
    if (const toml::node* ports = file.get("ports")) read_ports(*ports);
    if (const toml::table* node = table(file, "node")) read_costs(*node, "node", made_.kinds.front(), {});
    if (const toml::table* kinds = table(file, "kinds"))
      for (const auto& [kind, node] : *kinds) read_kind(std::string(kind.str()), node);
    if (const toml::table* network = table(file, "network")) read_network(*network);
    made_.is_time = times_ > 0;
    check_nodes_of_kinds();
    if (times_ > 0 && numbers_ > 0) throw TomlMistake(name() + ": some costs have a unit of time and some have none");
    return std::move(made_);
  }

 private:
  const toml::table* table(const toml::table& in, std::string_view key) const {
    const toml::node* node = in.get(key);
    if (node != nullptr && !node->is_table()) refuse(*node, std::string(key), "a table");
    return node == nullptr ? nullptr : node->as_table();
  }

  // A floating-point number is not what was written: 0.1 is no multiple of a power of two.
  Rational cost(const toml::node& node, const std::string& key) {
    const auto quantity = parse_quantity(number_text(node));
    if (!quantity) refuse(node, key, "a whole number or, in quotes, \"27us\", \"9/5\", \"0.8\"");
    if (quantity->value != Rational(0)) ++(quantity->is_time ? times_ : numbers_);
    return quantity->value;
  }

  // A factor is no cost.
  Rational factor(const toml::node& node, const std::string& key) const {
    const auto quantity = parse_quantity(number_text(node));
    if (!quantity || quantity->is_time) refuse(node, key, "a whole number or, in quotes, \"3/2\", \"1.5\"");
    return quantity->value;
  }

  void read_ports(const toml::node& node) {
    const std::string ports = node.is_string() ? *node.value<std::string>() : "";
    if (ports != "shared" && ports != "independent") refuse(node, "ports", "\"shared\", \"independent\"");
    made_.ports = ports == "shared" ? Ports::kShared : Ports::kIndependent;
  }

  void read_costs(const toml::table& in, const std::string& key, NodeKind& kind,
                  const std::vector<std::string_view>& others) {
    std::vector<std::string_view> allowed = others;
    for (const NodeField& f : kNodeFields) allowed.push_back(f.name);
    only(in, key + '.', allowed);
    for (const NodeField& f : kNodeFields)
      if (const toml::node* node = in.get(f.name)) kind.*f.field = cost(*node, key + '.' + std::string(f.name));
  }

  void read_kind(const std::string& name, const toml::node& node) {
    const std::string key = "kinds." + name;
    if (!node.is_table()) refuse(node, key, "a table");
    const toml::table& in = *node.as_table();
    NodeKind kind = made_.kinds.front();
    kind.name = name;
    if (const toml::node* by = in.get("factor")) {
      const Rational times = factor(*by, key + ".factor");
      for (const NodeField& f : kNodeFields) kind.*f.field = kind.*f.field * times;
    }
    read_costs(in, key, kind, {"factor", "nodes"});
    if (const toml::node* nodes = in.get("nodes")) read_nodes(*nodes, key + ".nodes");
    made_.kinds.push_back(kind);
  }

  // They are of the kind that is added next.
  void read_nodes(const toml::node& list, const std::string& key) {
    if (!list.is_array()) refuse(list, key, "a list of node numbers");
    for (const toml::node& entry : *list.as_array()) {
      const std::uint64_t number = whole(entry, key);
      if (number >= kMostMachineNodes) refuse(entry, key, "nodes below " + std::to_string(kMostMachineNodes));
      if (made_.kind_of_node.size() <= number) made_.kind_of_node.resize(number + 1);
      if (made_.kind_of_node[number] != 0) refuse(entry, key, "each node in one list");
      made_.kind_of_node[number] = static_cast<std::uint32_t>(made_.kinds.size());
    }
  }

  // Where the network says how many nodes it has. A node that does not exist would be of its kind without effect.
  void check_nodes_of_kinds() const {
    const auto least = [](std::uint64_t count) { return std::min(count, kMostMachineNodes); };  // it is refused later
    const std::uint64_t all = made_.nodes > 0 ? made_.nodes : least(made_.rows) * least(made_.columns);
    const std::vector<std::uint32_t>& kinds = made_.kind_of_node;
    if (all == 0 || kinds.size() <= all) return;
    throw TomlMistake(name() + ": kinds." + made_.kinds[kinds.back()].name + ".nodes has node " +
                      std::to_string(kinds.size() - 1) + "; allowed: nodes below " + std::to_string(all) +
                      ", which are all of this network");
  }

  void read_network(const toml::table& in) {
    const toml::node* kind = in.get("kind");
    const std::string name = kind != nullptr && kind->is_string() ? *kind->value<std::string>() : "";
    const auto found = std::ranges::find(kNetworkNames, name);
    if (found == kNetworkNames.end())
      throw TomlMistake(at(in.source().begin.line) +
                        ": network.kind must be \"ideal\", \"crossbar\", \"mesh\", \"fat-tree\" or \"workstations\"");
    made_.network = static_cast<NetworkKind>(found - kNetworkNames.begin());
    std::vector<std::string_view> allowed = {"kind"};
    for (const Parameter& p : kParameters)
      if (p.network == made_.network) allowed.push_back(p.name);
    only(in, "network.", allowed);
    for (const Parameter& p : kParameters)
      if (const toml::node* node = p.network == made_.network ? in.get(p.name) : nullptr)
        std::visit([&](auto field) { set(field, *node, "network." + std::string(p.name)); }, p.field);
  }

  void set(Rational Description::*field, const toml::node& node, const std::string& key) {
    made_.*field = cost(node, key);
  }
  void set(std::uint64_t Description::*field, const toml::node& node, const std::string& key) {
    made_.*field = whole(node, key);
  }
  void set(bool Description::*field, const toml::node& node, const std::string& key) {
    if (!node.is_boolean()) refuse(node, key, "true, false");
    made_.*field = *node.value<bool>();
  }
  void set(std::string Description::*field, const toml::node& node, const std::string& key) {
    made_.*field = words(node, key);
  }

  Description made_;
  std::uint64_t times_ = 0;
  std::uint64_t numbers_ = 0;
};

}  // namespace

std::optional<MachineDescription> parse_machine(std::string_view text, const std::string& name, std::string& error) {
  try {
    return MachineReader(name).read(text);
  } catch (const TomlMistake& mistake) {
    error = mistake.what();
  } catch (const std::overflow_error&) {
    error = name + ": a cost is too large or has too many digits";
  }
  return {};
}

std::string parameters(NetworkKind kind) {
  std::string list;
  for (const Parameter& p : kParameters)
    if (p.network == kind) list.append(list.empty() ? "" : ", ").append(p.name);
  return list;
}

std::string_view network_name(NetworkKind kind) { return kNetworkNames[static_cast<std::size_t>(kind)]; }

}  // namespace fibocast
