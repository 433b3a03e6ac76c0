// The settings file of one daemon of a local cluster.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collectives/types.h"

namespace fibocast {

// A machine that the daemons can look like (PAPERS A31: r = l + o). Times in nanoseconds.
struct MachineModel {
  Nanoseconds s = 0, l = 0, o = 0;
};

// "manna": s = 27 us, r = 88 us, all of it occupancy; "none": no emulation, an empty optional inside.
// Nothing for a name we do not know.
std::optional<std::optional<MachineModel>> find_machine(const std::string& name);

struct NodeFileRequest {
  std::string dir;
  std::vector<std::string> addresses;  // by rank
  std::string transport = "udp";
  bool shares_memory = true;  // where it can: cluster.local
  std::string wait;           // empty: the daemon's own default
  std::optional<MachineModel> machine;
  double scale = 1;
  double loss_percent = 0;
  std::vector<std::string> settings;  // SECTION.KEY=VALUE, over everything else
};

// "SECTION.KEY=VALUE" with a value as TOML wants it, or as bare text. False for anything else.
bool is_setting(const std::string& text);
// The text of node RANK's file. Precondition: all settings are is_setting().
std::string node_file(const NodeFileRequest& request, NodeId rank);

}  // namespace fibocast
