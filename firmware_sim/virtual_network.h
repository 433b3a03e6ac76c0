// A network that exists in virtual time only: datagrams between nodes are lost, doubled, delayed and overtaken by
// others as a seed decides. With the default settings it is perfect and takes no time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collectives/types.h"
#include "firmware_sim/event_queue.h"
#include "firmware_sim/fault.h"
#include "firmware_sim/random.h"
#include "firmware_sim/trace_hash.h"

namespace fibocast {

struct NetworkSettings {
  Nanoseconds latency_min = 0;  // each link draws its own latency from this range, once
  Nanoseconds latency_max = 0;
  Nanoseconds jitter = 0;  // each datagram takes up to so much longer: they overtake one another
};

struct NetworkCounters {
  std::uint64_t sent = 0, lost = 0, duplicated = 0, delayed = 0, delivered = 0;
};

// One thread. Outlives nothing: `queue` must outlive it.
class VirtualNetwork {
 public:
  using Datagram = std::vector<std::byte>;
  using Receiver = std::function<void(std::span<const std::byte>)>;
  // May change the datagram; false drops it. For tests that interfere.
  using Filter = std::function<bool(NodeId from, NodeId to, Datagram& datagram)>;

  VirtualNetwork(EventQueue& queue, const NetworkSettings& settings, std::uint32_t nodes, std::uint64_t seed);

  // Where datagrams to `node` go; none: nobody listens there and they vanish.
  void set_receiver(NodeId node, Receiver receiver) { receivers_[node] = std::move(receiver); }
  // Told, on the way back, that nobody listened at a node: as a host does whose process is gone (ICMP). None: nobody.
  void set_refused(NodeId node, std::function<void(NodeId peer)> refused) { refused_[node] = std::move(refused); }
  void set_latency(NodeId from, NodeId to, Nanoseconds latency);
  void set_filter(Filter filter) { filter_ = std::move(filter); }
  // A fault of messages is there from now on; is healed. The fault must live until it heals, or as long as the network.
  void begin(const Fault& fault) { faults_.push_back(&fault); }
  void heal(const Fault& fault) { std::erase(faults_, &fault); }
  void send(NodeId from, NodeId to, Datagram datagram);
  // For what carries frames in another way (virtual_streams.h). Counts one that leaves; false: a test drops it.
  bool admit(NodeId from, NodeId to, Datagram& datagram);
  // Nothing passes from one to the other now.
  bool cut(NodeId from, NodeId to) const { return trouble(from, to).cut; }
  // How long something takes that leaves now.
  Nanoseconds way(NodeId from, NodeId to) { return way(from, to, trouble(from, to)); }
  // Straight to the receiver, now: forged and replayed datagrams of tests.
  void deliver(NodeId to, std::span<const std::byte> datagram);

  const NetworkCounters& counters() const { return counters_; }
  // Of every datagram delivered so far.
  std::uint64_t trace() const { return trace_.value(); }

 private:
  // What the faults that are there now do to one link.
  struct Trouble {
    double loss = 0, duplicate = 0, delay = 0;
    Nanoseconds delay_max = 0, jitter = 0;
    bool cut = false;
  };
  Trouble trouble(NodeId from, NodeId to) const;
  Nanoseconds way(NodeId from, NodeId to, const Trouble& trouble);
  void arrive(NodeId from, NodeId to, std::span<const std::byte> datagram);
  void send_copy(NodeId from, NodeId to, Datagram datagram, const Trouble& trouble);

  std::uint64_t links() const { return std::uint64_t{nodes_} * nodes_; }
  Nanoseconds latency(NodeId from, NodeId to) const {
    return latency_.empty() ? latency_min_ : latency_[from * nodes_ + to];
  }

  EventQueue& queue_;
  NetworkSettings settings_;
  std::uint32_t nodes_;
  Random random_;
  Nanoseconds latency_min_;
  std::vector<Nanoseconds> latency_;  // by link; empty: all latency_min_
  std::vector<Receiver> receivers_;
  std::vector<std::function<void(NodeId)>> refused_;
  Filter filter_;
  std::vector<const Fault*> faults_;  // that are there now
  NetworkCounters counters_;
  TraceHash trace_;
};

}  // namespace fibocast
