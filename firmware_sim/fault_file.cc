#include "firmware_sim/fault_file.h"

#include <algorithm>
#include <cmath>

#include "firmware_sim/toml_reader.h"

namespace fibocast {
namespace {

constexpr auto kLastKind = Fault::Kind::kClockJump;
constexpr double kMostMilliseconds = 1e9;

std::vector<std::string_view> keys_of(Fault::Kind kind) {
  std::vector<std::string_view> keys = {"kind", "begins_ms"};
  if (kind != Fault::Kind::kClockJump) keys.push_back("heals_ms");
  keys.push_back("nodes");
  if (has_probability(kind)) keys.push_back("probability");
  if (has_time(kind)) keys.push_back("time_ms");
  return keys;
}

std::string list(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

std::string kind_names() {
  std::vector<std::string_view> names;
  for (const Fault::Kind kind : fault_kinds()) names.push_back(kind_name(kind));
  return list(names);
}

std::optional<Fault::Kind> kind_by_name(std::string_view name) {
  for (const Fault::Kind kind : fault_kinds())
    if (name == kind_name(kind)) return kind;
  return {};
}

class FaultReader : private TomlReader {
 public:
  FaultReader(const std::string& name, std::uint32_t nodes) : TomlReader(name), nodes_(nodes) {}

  std::vector<Fault> read(std::string_view text) {
    const toml::table file = parse(text);
    only(file, "", {"fault"});
    std::vector<Fault> faults;
    const toml::node* list = file.get("fault");
    if (list == nullptr) return faults;
    if (!list->is_array_of_tables()) refuse(*list, "fault", "tables that begin with [[fault]]");
    for (const toml::node& each : *list->as_array()) faults.push_back(read_fault(*each.as_table()));
    return faults;
  }

 private:
  Fault read_fault(const toml::table& in) const {
    Fault fault;
    fault.kind = read_kind(in);
    only(in, std::string(kind_name(fault.kind)) + '.', keys_of(fault.kind));
    if (const toml::node* node = in.get("begins_ms")) fault.begins = time(*node, "begins_ms");
    if (const toml::node* node = in.get("heals_ms")) fault.heals = time(*node, "heals_ms");
    if (const toml::node* node = in.get("time_ms")) fault.time = time(*node, "time_ms");
    if (const toml::node* node = in.get("probability")) fault.probability = read_probability(*node);
    if (const toml::node* node = in.get("nodes")) fault.nodes = read_nodes(*node);
    const std::string wrong = objection(fault, nodes_);
    if (!wrong.empty()) throw TomlMistake(at(in.source().begin.line) + ": " + wrong);
    return fault;
  }

  Fault::Kind read_kind(const toml::table& in) const {
    const toml::node* node = in.get("kind");
    if (node == nullptr)
      throw TomlMistake(at(in.source().begin.line) + ": the fault has no kind; allowed: " + kind_names());
    const auto kind = kind_by_name(words(*node, "kind"));
    if (!kind) refuse(*node, "kind", kind_names());
    return *kind;
  }

  // TOML's whole numbers and others alike; -1 for anything else.
  static double number(const toml::node& node) { return node.is_number() ? *node.value<double>() : -1; }

  Nanoseconds time(const toml::node& node, const std::string& key) const {
    const double milliseconds = number(node);
    if (!(milliseconds >= 0 && milliseconds <= kMostMilliseconds)) refuse(node, key, "milliseconds, 0 to 1000000000");
    return std::llround(milliseconds * 1e6);
  }

  double read_probability(const toml::node& node) const {
    const double value = number(node);
    if (!(value >= 0 && value <= 1)) refuse(node, "probability", "0 to 1");
    return value;
  }

  std::vector<NodeId> read_nodes(const toml::node& list) const {
    const std::string allowed = "node numbers below " + std::to_string(nodes_) + ", each once, as in [1, 4]";
    if (!list.is_array()) refuse(list, "nodes", allowed);
    std::vector<NodeId> nodes;
    for (const toml::node& entry : *list.as_array()) {
      const std::int64_t node = entry.is_integer() ? *entry.value<std::int64_t>() : -1;
      const bool known = node >= 0 && node < std::int64_t{nodes_};
      if (!known || std::ranges::count(nodes, static_cast<NodeId>(node)) > 0) refuse(entry, "nodes", allowed);
      nodes.push_back(static_cast<NodeId>(node));
    }
    std::ranges::sort(nodes);
    return nodes;
  }

  std::uint32_t nodes_;
};

}  // namespace

std::optional<std::vector<Fault>> parse_faults(std::string_view text, const std::string& name, std::uint32_t nodes,
                                               std::string& error) {
  try {
    return FaultReader(name, nodes).read(text);
  } catch (const TomlMistake& mistake) {
    error = mistake.what();
  }
  return {};
}

std::vector<Fault::Kind> fault_kinds() {
  std::vector<Fault::Kind> kinds;
  for (int i = 0; i <= static_cast<int>(kLastKind); ++i) kinds.push_back(static_cast<Fault::Kind>(i));
  return kinds;
}

std::string fault_keys(Fault::Kind kind) {
  const std::vector<std::string_view> keys = keys_of(kind);
  return list({keys.begin() + 1, keys.end()});
}

}  // namespace fibocast
