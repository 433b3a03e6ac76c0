// What daemons say to each other to find out who has which rank: one datagram of text each.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/daemon/discovered_list.h"

namespace fibocast {

struct DiscoveryMessage {
  enum class Kind : std::uint8_t {
    kAsk,       // who I am and what I know: `list` without members; whoever knows more answers
    kPropose,   // to every member of `list`: agree to it
    kAccept,    // to the proposer: written down, I shall agree to no other
    kWithdraw,  // from the proposer: `list.cluster` will never form, be free again
    kList,      // a cluster that has formed
  };
  Kind kind = Kind::kAsk;
  DaemonId from = 0;
  std::uint16_t port = 0;  // where the sender receives frames
  bool has_rank = false;   // the sender runs, with the list that it names
  std::string host = "-";
  DiscoveredList list;
};

// `name`: of the cluster; texts of clusters with another name are not read.
std::string write_message(const std::string& name, const DiscoveryMessage& message);
std::optional<DiscoveryMessage> read_message(const std::string& name, std::string_view text);

}  // namespace fibocast
