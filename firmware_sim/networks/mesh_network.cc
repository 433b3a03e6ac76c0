#include "firmware_sim/networks/mesh_network.h"

#include <algorithm>

namespace fibocast {

MeshNetwork::MeshNetwork(std::uint32_t rows, std::uint32_t columns, bool wormhole, const MeshTimes& times)
    : rows_(rows), columns_(columns), wormhole_(wormhole), times_(times), links_(4 * std::size_t{rows} * columns) {}

Ticks MeshNetwork::shortest_transit() const { return latency(0) + (wormhole_ ? times_.per_hop : times_.hold); }

Ticks MeshNetwork::usual_transit(std::uint64_t bytes) const {
  const Ticks hops = (rows_ + columns_ + 1) / 3;  // the mean distance
  return latency(bytes) + hops * (wormhole_ ? times_.per_hop : times_.hold + times_.hold_per_byte * bytes);
}

Ticks MeshNetwork::latency(std::uint64_t bytes) const {
  return times_.latency + times_.latency_per_byte * std::min(bytes, times_.latency_bytes);
}

// The links passed, each named by the node that it leaves and its direction.
std::vector<std::uint32_t> MeshNetwork::path(NodeId from, NodeId to) const {
  std::vector<std::uint32_t> links;
  while (from % columns_ != to % columns_) {
    const bool east = from % columns_ < to % columns_;
    links.push_back(4 * from + (east ? kEast : kWest));
    from = east ? from + 1 : from - 1;
  }
  while (from != to) {
    const bool south = from < to;
    links.push_back(4 * from + (south ? kSouth : kNorth));
    from = south ? from + columns_ : from - columns_;
  }
  return links;
}

Passage MeshNetwork::enter(const NetworkMessage& message, Ticks departure) {
  messages_.push_back({.is = message});
  const auto index = static_cast<std::uint32_t>(messages_.size() - 1);
  return wormhole_ ? hold_path(index, departure) : pass_link(index, departure);
}

Passage MeshNetwork::go_on(std::uint32_t packet, Ticks now) { return pass_link(packet, now); }

// All its links at once, as soon as the last of those before it on any of them lets go.
Passage MeshNetwork::hold_path(std::uint32_t message, Ticks now) {
  const NetworkMessage& m = messages_[message].is;
  const std::vector<std::uint32_t> links = path(m.source, m.target);
  Ticks begins = now;
  for (const std::uint32_t link : links) begins = std::max(begins, links_[link].free);
  const Ticks until = begins + times_.hold + times_.hold_per_byte * m.bytes;
  for (const std::uint32_t link : links) claim(message, link, now, begins, until);
  longest_way_ = std::max<std::uint64_t>(longest_way_, links.size());
  waited_ += begins - now;
  return {.time = begins + latency(m.bytes) + times_.per_hop * links.size()};
}

Passage MeshNetwork::pass_link(std::uint32_t message, Ticks now) {
  Message& m = messages_[message];
  const std::vector<std::uint32_t> links = path(m.is.source, m.is.target);
  if (m.passed == links.size()) return {.time = now + latency(m.is.bytes)};
  const std::uint32_t link = links[m.passed++];
  const Ticks begins = std::max(now, links_[link].free);
  const Ticks until = begins + times_.hold + times_.hold_per_byte * m.is.bytes;
  claim(message, link, now, begins, until);
  longest_way_ = std::max<std::uint64_t>(longest_way_, links.size());
  waited_ += begins - now;
  return {.time = until, .arrived = false, .packet = message};
}

// Wanted from `now` on, held from `begins`.
void MeshNetwork::claim(std::uint32_t message, std::uint32_t link, Ticks now, Ticks begins, Ticks until) {
  Link& l = links_[link];
  std::erase_if(l.claims, [&](const Claim& c) { return c.until <= now; });
  for (const Claim& c : l.claims) meet(c.message, message);
  l.claims.push_back({message, until});
  l.free = until;
  ++l.load.messages;
  l.load.busy += until - begins;
  l.load.queue_peak = std::max<std::uint64_t>(l.load.queue_peak, l.claims.size() - 1);
}

void MeshNetwork::meet(std::uint32_t a, std::uint32_t b) {
  std::vector<std::uint32_t>& rivals = messages_[a].rivals;
  if (std::ranges::find(rivals, b) != rivals.end()) return;
  rivals.push_back(b);
  messages_[b].rivals.push_back(a);
}

std::string MeshNetwork::link_name(std::size_t link) const {
  static constexpr const char* kNames[] = {" east", " west", " south", " north"};
  const std::size_t node = link / 4;
  std::string name = "row ";
  name.append(std::to_string(node / columns_)).append(" column ").append(std::to_string(node % columns_));
  return name.append(kNames[link % 4]);
}

NetworkLoads MeshNetwork::loads() const {
  NetworkLoads loads;
  loads.longest_way = longest_way_;
  loads.waited = waited_;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (links_[i].load.messages == 0) continue;
    loads.links.push_back(links_[i].load);
    loads.links.back().name = link_name(i);
  }
  std::uint64_t twice = 0;
  for (const Message& m : messages_) {
    twice += m.rivals.size();
    loads.most_conflicts = std::max<std::uint64_t>(loads.most_conflicts, m.rivals.size());
  }
  loads.conflicts = twice / 2;
  return loads;
}

}  // namespace fibocast
