#include "firmware_sim/networks/mesh_network.h"

#include <algorithm>
#include <numeric>

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
  Way way = kBegins;
  for (std::size_t i = 0; i < links.size(); ++i) {
    claim(message, links[i], way, now, begins, until);
    const bool turns = i + 1 < links.size() && links[i] % 4 != links[i + 1] % 4;
    way = !turns ? kStraight : links[i] % 4 == kEast ? kFromEastward : kFromWestward;
  }
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
  claim(message, link, kBegins, now, begins, until);
  longest_way_ = std::max<std::uint64_t>(longest_way_, links.size());
  waited_ += begins - now;
  return {.time = until, .arrived = false, .packet = message};
}

// Wormhole: who wants one link of a path at a time wants all that both paths have, and these lie one behind the other.
// So who comes to a link the same way has been met on the link before; but not where both begin.
std::uint64_t MeshNetwork::Link::strangers(const std::array<std::uint64_t, kWays>& counts, Way way) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) - (way == kBegins ? 0 : counts[way]);
}

// Wanted from `now` on, held from `begins`. Wormhole: each message counts those it finds, and when it lets go those
// that have come since. A table of all pairs would be large: of a barrier of 50,000 ranks it would have a billion.
void MeshNetwork::claim(std::uint32_t message, std::uint32_t link, Way way, Ticks now, Ticks begins, Ticks until) {
  Link& l = links_[link];
  let_go(l, now);
  if (wormhole_) {
    messages_[message].conflicts += Link::strangers(l.held, way);
  } else {
    for (std::size_t i = l.first; i < l.claims.size(); ++i) meet(l.claims[i].message, message);
  }
  ++l.held[way], ++l.came[way];
  l.claims.push_back({message, way, until, Link::strangers(l.came, way)});
  l.free = until;
  ++l.load.messages;
  l.load.busy += until - begins;
  l.load.queue_peak = std::max<std::uint64_t>(l.load.queue_peak, l.claims.size() - l.first - 1);
}

void MeshNetwork::let_go(Link& l, Ticks now) {
  for (; l.first < l.claims.size() && l.claims[l.first].until <= now; ++l.first) {
    const Claim& c = l.claims[l.first];
    --l.held[c.way];
    if (wormhole_) messages_[c.message].conflicts += Link::strangers(l.came, c.way) - c.strangers;
  }
  if (2 * l.first <= l.claims.size()) return;
  l.claims.erase(l.claims.begin(), l.claims.begin() + static_cast<std::ptrdiff_t>(l.first));
  l.first = 0;
}

void MeshNetwork::meet(std::uint32_t a, std::uint32_t b) {
  std::vector<std::uint32_t>& rivals = messages_[b].rivals;
  if (std::ranges::find(rivals, a) != rivals.end()) return;
  rivals.push_back(a);
  messages_[a].rivals.push_back(b);
  ++messages_[a].conflicts, ++messages_[b].conflicts;
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
  std::vector<std::uint64_t> conflicts(messages_.size());
  std::ranges::transform(messages_, conflicts.begin(), &Message::conflicts);
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& l = links_[i];
    for (std::size_t k = l.first; wormhole_ && k < l.claims.size(); ++k)
      conflicts[l.claims[k].message] += Link::strangers(l.came, l.claims[k].way) - l.claims[k].strangers;
    if (l.load.messages == 0) continue;
    loads.links.push_back(l.load);
    loads.links.back().name = link_name(i);
  }
  if (!conflicts.empty()) loads.most_conflicts = std::ranges::max(conflicts);
  loads.conflicts = std::accumulate(conflicts.begin(), conflicts.end(), std::uint64_t{0}) / 2;
  return loads;
}

}  // namespace fibocast
