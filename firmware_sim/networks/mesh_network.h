// A two-dimensional mesh with XY routing (the Intel Touchstone Delta; Lo et al. 1992, Bruck et al. 1996 section 2.7):
// messages go along the row first, then along the column, over links of one direction each. Two ways of switching:
// wormhole, where a message holds its whole path for a time, and store-and-forward, link by link through queues.
#pragma once

#include <array>
#include <vector>

#include "firmware_sim/networks/network.h"

namespace fibocast {

struct MeshTimes {
  // Wormhole: how long the path is held. Store-and-forward: what each link takes.
  Ticks hold = 0;
  Ticks hold_per_byte = 0;
  // From the moment the path is held (wormhole) or the last link is passed until the message is at its target.
  Ticks latency = 0;
  Ticks latency_per_byte = 0;
  std::uint64_t latency_bytes = UINT64_MAX;  // no more of the message count for that (Bruck et al. 1996, B18)
  Ticks per_hop = 0;                         // wormhole: for the header, each link (D10)
};

class MeshNetwork : public Network {
 public:
  // Node i is at row i / columns, column i % columns.
  MeshNetwork(std::uint32_t rows, std::uint32_t columns, bool wormhole, const MeshTimes& times);

  std::uint64_t nodes() const override { return std::uint64_t{rows_} * columns_; }
  std::uint32_t columns() const { return columns_; }
  Ticks shortest_transit() const override;
  Ticks usual_transit(std::uint64_t bytes) const override;
  Passage enter(const NetworkMessage& message, Ticks departure) override;
  Passage go_on(std::uint32_t packet, Ticks now) override;
  NetworkLoads loads() const override;

 private:
  enum Direction : std::uint32_t { kEast, kWest, kSouth, kNorth };
  // How a message comes to a link: it begins there, goes straight on, or turns from its row into its column.
  enum Way : std::uint8_t { kBegins, kStraight, kFromEastward, kFromWestward, kWays };
  struct Claim {
    std::uint32_t message;
    Way way;
    Ticks until;
    std::uint64_t strangers;  // Link::strangers(way) when it came
  };
  struct Link {
    // Those of `counts` that have not met one that comes this way.
    static std::uint64_t strangers(const std::array<std::uint64_t, kWays>& counts, Way way);

    Ticks free = 0;
    std::vector<Claim> claims;  // messages that want it or have it, in the order in which they let go
    std::size_t first = 0;      // of the claims: those before have let go
    std::array<std::uint64_t, kWays> held = {}, came = {};  // messages: now, and ever
    LinkLoad load;
  };
  struct Message {
    NetworkMessage is;
    std::size_t passed = 0;                  // store-and-forward: links
    std::vector<std::uint32_t> rivals = {};  // store-and-forward
    std::uint64_t conflicts = 0;
  };
  std::vector<std::uint32_t> path(NodeId from, NodeId to) const;
  std::string link_name(std::size_t link) const;
  Ticks latency(std::uint64_t bytes) const;
  Passage hold_path(std::uint32_t message, Ticks now);
  Passage pass_link(std::uint32_t message, Ticks now);
  void claim(std::uint32_t message, std::uint32_t link, Way way, Ticks now, Ticks begins, Ticks until);
  void let_go(Link& link, Ticks now);
  void meet(std::uint32_t a, std::uint32_t b);

  std::uint32_t rows_;
  std::uint32_t columns_;
  bool wormhole_;
  MeshTimes times_;
  std::vector<Link> links_;
  std::vector<Message> messages_;
  std::uint64_t longest_way_ = 0;
  Ticks waited_ = 0;
};

}  // namespace fibocast
