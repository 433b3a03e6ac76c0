#include "tests/house/include_rules.h"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>

namespace fibocast {
namespace {

// Anything that a hosted program needs: the layers that own sockets, threads and files.
const std::vector<std::string_view> kHosted = {
    "boost/", "sys/",    "netinet/", "arpa/", "net/",      "linux/", "google/protobuf/",
    "CLI/",   "toml++/", "spdlog/",  "fmt/",  "nlohmann/", "posix",  "prometheus/"};
const std::vector<std::string_view> kBelowHosts = {"collectives core", "collectives", "transport core", "node", "wire"};

std::vector<std::string_view> below_hosts_and(std::vector<std::string_view> more) {
  more.insert(more.end(), kBelowHosts.begin(), kBelowHosts.end());
  return more;
}

// In the folders that hold a core and more, the sources of the hosted library tell the two apart; whatever is
// not among them is held to the stricter rule of the core.
const std::vector<Layer>& layers() {
  static const std::vector<Layer> table = {
      {"collectives core", "collectives/", {"collectives core"}, {}},
      {"collectives", "collectives/", {"collectives core", "collectives"}, {}},
      {"transport core", "transport/", {"transport core"}, {}},
      {"seal", "transport/seal/", {"transport core", "seal"}, {"intel-ipsec-mb.h", "sodium.h"}},
      {"sockets",
       "transport/",
       {"transport core", "seal", "sockets"},
       {"boost/", "sys/", "netinet/", "arpa/", "linux/", "posix"}},
      {"node", "runtime/node/", {"collectives core", "transport core", "node"}, {}},
      {"wire", "runtime/wire/", below_hosts_and({}), {"google/protobuf/", "nlohmann/"}},
      {"daemon", "runtime/daemon/", below_hosts_and({"seal", "sockets", "daemon"}), kHosted},
      {"client", "runtime/client/", below_hosts_and({"sockets", "daemon", "client"}), kHosted},
      {"calibration", "runtime/calibration/", below_hosts_and({"sockets", "client", "calibration"}), kHosted},
      {"cli", "runtime/cli/", below_hosts_and({"seal", "sockets", "daemon", "client", "calibration", "cli"}), kHosted},
      {"examples", "runtime/examples/", below_hosts_and({"client", "examples"}), kHosted},
      {"firmware_sim",
       "firmware_sim/",
       below_hosts_and({"firmware_sim"}),
       {"CLI/", "toml++/", "nlohmann/", "google/protobuf/"}},
  };
  return table;
}

const Layer* find_layer(std::string_view name) {
  for (const Layer& layer : layers())
    if (layer.name == name) return &layer;
  return nullptr;
}

// "transport/udp_transport.h" -> "udp_transport"
std::string_view stem_of(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return path.substr(0, path.find('.'));
}

bool is_source_of(std::string_view sources, std::string_view path) {
  std::istringstream words{std::string(sources)};
  for (std::string source; words >> source;)
    if (stem_of(source) == stem_of(path)) return true;
  return false;
}

bool contains(const std::vector<std::string_view>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// May `layer` include `header`, found in angle brackets? The standard library's own headers have neither a
// slash nor a dot; one with a dot alone (<unistd.h>) is the system's.
bool external_allowed(const Layer& layer, std::string_view header) {
  if (header.find_first_of("/.") == std::string_view::npos) return true;
  if (contains(layer.external, header)) return true;
  if (header.find('/') == std::string_view::npos) return contains(layer.external, "posix");
  return std::any_of(layer.external.begin(), layer.external.end(),
                     [&](std::string_view prefix) { return header.starts_with(prefix); });
}

// What the core must not use although it is standard: it brings a heap, a clock, a lock or a stream.
bool hosted_standard(std::string_view header) {
  static const std::vector<std::string_view> list = {
      "iostream",           "fstream", "sstream", "string", "vector",        "map",  "set",
      "unordered_map",      "deque",   "thread",  "mutex",  "unordered_set", "list", "queue",
      "condition_variable", "future",  "random",  "regex",  "chrono"};
  return contains(list, header);
}

bool is_core(const Layer& layer) { return layer.name.ends_with("core") || layer.name == "node"; }

std::string judge(const Layer& layer, std::string_view header, bool angle) {
  if (angle) {
    if (is_core(layer) && hosted_standard(header)) return "the core does without <" + std::string(header) + ">";
    return external_allowed(layer, header) ? ""
                                           : std::string(layer.name) + " may not include <" + std::string(header) + ">";
  }
  const Layer* target = layer_of(header);
  if (!target) return "\"" + std::string(header) + "\" is not a path from the root into a layer";
  if (contains(layer.layers, target->name)) return "";
  return std::string(layer.name) + " may not include " + std::string(header) + " of " + std::string(target->name);
}

}  // namespace

const Layer* layer_of(std::string_view path) {
  if (path.starts_with("transport/seal/")) return find_layer("seal");
  if (path.starts_with("transport/"))
    return find_layer(is_source_of(FIBOCAST_SOCKET_FILES, path) ? "sockets" : "transport core");
  if (path.starts_with("collectives/models/")) return find_layer("collectives");
  if (path.starts_with("collectives/"))
    return find_layer(is_source_of(FIBOCAST_COLLECTIVES_FILES, path) ? "collectives" : "collectives core");
  for (const Layer& layer : layers())
    if (path.starts_with(layer.folder)) return &layer;
  return nullptr;
}

std::vector<std::string> judge_includes(std::string_view path, std::string_view text) {
  static const std::regex include(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<std::string> faults;
  const Layer* layer = layer_of(path);
  if (!layer) return {std::string(path) + ": no layer in tests/house/include_rules.cc has this folder"};
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::smatch match;
    if (!std::regex_search(line, match, include)) continue;
    const std::string fault = judge(*layer, match[2].str(), match[1] == "<");
    if (!fault.empty()) faults.push_back(std::string(path) + ":" + std::to_string(number) + ": " + fault);
  }
  return faults;
}

}  // namespace fibocast
