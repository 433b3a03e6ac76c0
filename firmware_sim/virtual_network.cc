#include "firmware_sim/virtual_network.h"

#include <algorithm>
#include <utility>

namespace fibocast {

VirtualNetwork::VirtualNetwork(EventQueue& queue, const NetworkSettings& settings, std::uint32_t nodes,
                               std::uint64_t seed)
    : queue_(queue),
      settings_(settings),
      nodes_(nodes),
      random_(seed),
      latency_min_(settings.latency_min),
      receivers_(nodes),
      refused_(nodes) {
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

VirtualNetwork::Trouble VirtualNetwork::trouble(NodeId from, NodeId to) const {
  Trouble t;
  t.jitter = settings_.jitter;
  for (const Fault* fault : faults_) {
    const bool leaves = concerns(*fault, from), enters = concerns(*fault, to);
    const bool here = leaves || enters;
    switch (fault->kind) {
      case Fault::Kind::kLoss: t.loss = std::max(t.loss, here * fault->probability); break;
      case Fault::Kind::kDuplicate: t.duplicate = std::max(t.duplicate, here * fault->probability); break;
      case Fault::Kind::kReorder: t.jitter = std::max(t.jitter, here * fault->time); break;
      case Fault::Kind::kDelay:
        t.delay = std::max(t.delay, here * fault->probability);
        t.delay_max = std::max(t.delay_max, here * fault->time);
        break;
      case Fault::Kind::kPartition: t.cut |= leaves != enters; break;
      case Fault::Kind::kOneWay: t.cut |= leaves && !enters; break;
      default: break;  // of nodes
    }
  }
  return t;
}

bool VirtualNetwork::admit(NodeId from, NodeId to, Datagram& datagram) {
  ++counters_.sent;
  return !filter_ || filter_(from, to, datagram);
}

void VirtualNetwork::send(NodeId from, NodeId to, Datagram datagram) {
  if (!admit(from, to, datagram)) return;
  const Trouble t = trouble(from, to);
  if (t.cut) {
    ++counters_.lost;
    return;
  }
  if (random_.chance(t.duplicate)) {
    ++counters_.duplicated;
    send_copy(from, to, datagram, t);
  }
  if (random_.chance(t.loss)) {
    ++counters_.lost;
    return;
  }
  send_copy(from, to, std::move(datagram), t);
}

Nanoseconds VirtualNetwork::way(NodeId from, NodeId to, const Trouble& t) {
  const Nanoseconds takes = latency(from, to) + random_.between(0, t.jitter);
  if (!random_.chance(t.delay)) return takes;
  ++counters_.delayed;
  return takes + random_.between(0, t.delay_max);
}

void VirtualNetwork::send_copy(NodeId from, NodeId to, Datagram datagram, const Trouble& t) {
  queue_.at(queue_.now() + way(from, to, t),
            [this, from, to, bytes = std::move(datagram)] { arrive(from, to, bytes); });
}

void VirtualNetwork::arrive(NodeId from, NodeId to, std::span<const std::byte> datagram) {
  deliver(to, datagram);
  if (receivers_[to] || !refused_[from] || trouble(to, from).cut) return;
  queue_.at(queue_.now() + latency(to, from), [this, from, to] {
    if (refused_[from]) refused_[from](to);
  });
}

void VirtualNetwork::deliver(NodeId to, std::span<const std::byte> datagram) {
  ++counters_.delivered;
  trace_.add(static_cast<std::uint64_t>(queue_.now()));
  trace_.add(to);
  trace_.add(datagram);
  if (receivers_[to]) receivers_[to](datagram);
}

}  // namespace fibocast
