// What `fibocast doctor` looks at: each check is a function of what is known of a daemon, and gives a line with what
// was found and, where that is not well, the remedy.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/client/participant.h"
#include "runtime/daemon/settings.h"

namespace fibocast {

enum class Health : std::uint8_t { kOk, kWarning, kWrong };

struct Check {
  std::string name;
  Health health = Health::kOk;
  std::string found;
  std::string remedy = {};  // of what is not ok
};
using Checks = std::vector<Check>;

// A daemon as its settings file and its own answer describe it; at least one of them is there.
struct Patient {
  std::string file;
  std::optional<Settings> settings;
  std::optional<NodeInfo> node;
  std::map<NodeId, Nanoseconds> since;  // for how long its peers are in their state, where its recorder still knows
  struct PeerClock {
    bool same = false;      // as ours
    Nanoseconds bound = 0;  // else: to how much it is known
  };
  std::map<NodeId, PeerClock> clocks;  // of connected peers that told

  bool uses_udp() const;
  // host:port of all other nodes, by rank.
  std::map<NodeId, std::string> peers() const;
};

// -- doctor_cluster.cc: what the daemon says
Check check_same_settings(const Patient& patient);  // file and daemon. Precondition: both
Check check_key(const Patient& patient);
Checks check_peers(const Patient& patient);  // one that is well stands for all

// -- doctor_surroundings.cc: what this host says
Check check_port(const Patient& patient);
Checks check_mtu(const Patient& patient);
Check check_clock(const Patient& patient);
Check check_receive_buffer(const Patient& patient);
Check check_shared_memory(const Patient& patient);

}  // namespace fibocast
