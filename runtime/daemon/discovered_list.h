// The list of a cluster that found itself by discovery (discovery.h): which daemon has which rank. Plain data, and its
// text: lines that a person can read, in the state folder and between daemons alike.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "collectives/types.h"
#include "runtime/daemon/cluster_addresses.h"

namespace fibocast {

using DaemonId = std::uint64_t;  // random, made once, kept in the state folder; 0: none

struct DiscoveredList {
  struct Member {
    DaemonId id = 0;
    std::string node;  // its entry in cluster.nodes: the address when the cluster formed, the same for ever
    NodeAddress at;    // where it was seen last
    std::string host;  // host name; "-" if it has none
  };
  std::uint64_t cluster = 0;  // random, of the proposal that it began as; 0: there is no list
  std::uint32_t version = 0;  // 0: proposed; 1: the cluster has formed; more: rank 0 has given a rank to another daemon
  DaemonId proposer = 0;      // rank 0 of the list when it was proposed
  std::vector<Member> members;  // rank = position; empty in a message that only says what is known

  bool is_formed() const { return version > 0; }
  std::optional<NodeId> rank_of(DaemonId id) const;
};

// Ranks: by the numbers at the end of the host names where these are NAME-0 to NAME-(n-1), else by address.
void put_in_rank_order(std::vector<DiscoveredList::Member>& members);

void write_list(std::ostream& out, const DiscoveredList& list);
// Nothing if it is not what write_list() writes, whole. At most 512 members.
std::optional<DiscoveredList> read_list(std::istream& in);

inline constexpr std::uint32_t kMostDiscovered = 512;  // a list fits into one datagram

}  // namespace fibocast
