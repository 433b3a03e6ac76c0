#include "runtime/cli/node_file.h"

#include <regex>
#include <sstream>

#include "runtime/cli/cluster_record.h"

namespace fibocast {
namespace {

using Section = std::map<std::string, std::string>;  // key -> value as TOML
using Sections = std::map<std::string, Section>;

std::string quoted(const std::string& text) { return '"' + text + '"'; }

std::string number_text(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::string quoted_list(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + quoted(text);
  return "[" + list + "]";
}

// Bare words become strings, all else is TOML already.
std::string toml_value(const std::string& text) {
  static const std::regex toml(R"(true|false|[-+]?[0-9][0-9_.eE+-]*|\[.*\]|".*")");
  return std::regex_match(text, toml) ? text : quoted(text);
}

void apply_setting(const std::string& setting, Sections& sections) {
  const auto dot = setting.find('.');
  const auto equals = setting.find('=');
  sections[setting.substr(0, dot)][setting.substr(dot + 1, equals - dot - 1)] = toml_value(setting.substr(equals + 1));
}

void add_machine(const MachineModel& machine, double scale, Sections& sections) {
  const Section times = {
      {"s_ns", std::to_string(machine.s)}, {"l_ns", std::to_string(machine.l)}, {"o_ns", std::to_string(machine.o)}};
  sections["model"] = sections["emulation"] = times;
  sections["emulation"]["scale"] = number_text(scale);
  // An emulated machine is slow and its host busy: the real network's resends must lie well above the noise.
  sections["transport"]["resend_floor_ms"] = "100";
}

}  // namespace

std::optional<std::optional<MachineModel>> find_machine(const std::string& name) {
  if (name == "none") return std::optional<MachineModel>();
  if (name == "manna") return MachineModel{27'000, 0, 88'000};
  return std::nullopt;
}

bool is_setting(const std::string& text) {
  static const std::regex form(R"([a-z_]+\.[a-z_]+=.+)");
  return std::regex_match(text, form);
}

std::string node_file(const NodeFileRequest& request, NodeId rank) {
  Sections sections;
  sections["node"] = {{"rank", std::to_string(rank)},
                      {"listen", quoted(request.addresses[rank])},
                      {"advertise", quoted(request.addresses[rank])},
                      {"socket", quoted(node_path(request.dir, rank, "sock"))}};
  sections["cluster"] = {
      {"name", quoted("local")}, {"nodes", quoted_list(request.addresses)}, {"transport", quoted(request.transport)}};
  if (!request.shares_memory) sections["cluster"]["local"] = quoted("off");
  if (!request.wait.empty()) sections["runtime"]["wait"] = quoted(request.wait);
  if (request.machine) add_machine(*request.machine, request.scale, sections);
  if (request.loss_percent > 0) {
    sections["faults"]["loss_percent"] = number_text(request.loss_percent);
    sections["faults"]["seed"] = std::to_string(rank + 1);
  }
  for (const std::string& setting : request.settings) apply_setting(setting, sections);
  std::string text = "# Written by fibocast up.\n";
  for (const auto& [name, section] : sections) {
    text += "[" + name + "]\n";
    for (const auto& [key, value] : section) text += key + " = " + value + "\n";
  }
  return text;
}

}  // namespace fibocast
