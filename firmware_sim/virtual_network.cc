#include "firmware_sim/virtual_network.h"

#include <utility>

namespace fibocast {

VirtualNetwork::VirtualNetwork(EventQueue& queue, const NetworkSettings& settings, std::uint32_t nodes,
                               std::uint64_t seed)
    : queue_(queue),
      settings_(settings),
      nodes_(nodes),
      random_(seed),
      latency_min_(settings.latency_min),
      receivers_(nodes) {
  if (settings.latency_min == settings.latency_max) {  // no table, which would be large for thousands of nodes
    random_.skip(links());
    return;
  }
  latency_.resize(links());
  for (Nanoseconds& latency : latency_) latency = random_.between(settings.latency_min, settings.latency_max);
}

void VirtualNetwork::set_latency(NodeId from, NodeId to, Nanoseconds latency) {
  if (latency_.empty()) latency_.resize(links(), latency_min_);
  latency_[from * nodes_ + to] = latency;
}

void VirtualNetwork::send(NodeId from, NodeId to, Datagram datagram) {
  ++counters_.sent;
  if (filter_ && !filter_(from, to, datagram)) return;
  if (random_.chance(settings_.duplicate)) {
    ++counters_.duplicated;
    send_copy(from, to, datagram);
  }
  if (random_.chance(settings_.loss)) {
    ++counters_.lost;
    return;
  }
  send_copy(from, to, std::move(datagram));
}

void VirtualNetwork::send_copy(NodeId from, NodeId to, Datagram datagram) {
  Nanoseconds takes = latency(from, to) + random_.between(0, settings_.jitter);
  if (random_.chance(settings_.delay)) {
    ++counters_.delayed;
    takes += random_.between(0, settings_.delay_max);
  }
  queue_.at(queue_.now() + takes, [this, to, bytes = std::move(datagram)] { deliver(to, bytes); });
}

void VirtualNetwork::deliver(NodeId to, std::span<const std::byte> datagram) {
  ++counters_.delivered;
  trace_.add(static_cast<std::uint64_t>(queue_.now()));
  trace_.add(to);
  trace_.add(datagram);
  if (receivers_[to]) receivers_[to](datagram);
}

}  // namespace fibocast
