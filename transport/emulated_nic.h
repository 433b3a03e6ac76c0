// The emulated network card: makes a fast host look like a machine with send occupancy s, wire latency l and
// receive occupancy o, by holding each transfer back (PAPERS A31, r = l + o). It stands between the node's
// engine and its channels and charges whole transfers, never frames: control traffic passes beside it.
//
// Pure: requests and the time in, due transfers out. Each port is a FIFO by request time; at equal time a receive
// goes before a send. `shared`: one processor does both; `independent`: one port for each direction. Occupancies
// are scheduled by absolute times, so that a late wake-up delays one transfer and does not add up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/words.h"

namespace fibocast {

enum class NicPorts : std::uint8_t { kShared, kIndependent };

// The wire of a simulated machine: when what departs now arrives. `source` is the receive's source_order / 256.
using NicWire = Nanoseconds (*)(void* machine, std::uint64_t source, std::uint64_t bytes, Nanoseconds departs);

struct NicSettings {
  bool enabled = false;
  Nanoseconds send = 0;         // s, already scaled
  Nanoseconds latency = 0;      // l
  Nanoseconds receive = 0;      // o
  double send_per_byte = 0;     // c: ns per byte on the sender
  double receive_per_byte = 0;  // ns per byte on the receiver
  NicPorts ports = NicPorts::kShared;
  bool serial_wire =
      false;               // the wire into a node carries one message after the other, each for `latency` (PAPERS C11)
  NicWire wire = nullptr;  // asked in the place of `latency`, with `machine`
  void* machine = nullptr;
};

// What the NIC gives back when a transfer's time has come. `ticket` is the caller's own.
struct NicDue {
  std::uint64_t ticket = 0;
  bool is_send = false;
  Nanoseconds began = 0;     // when the occupancy began (nominal)
  Nanoseconds lateness = 0;  // how much later than its due time it is being handed out
};

class EmulatedNic {
 public:
  static std::size_t bytes_needed(std::uint32_t queue);
  EmulatedNic(const NicSettings& settings, std::uint32_t queue, std::span<std::byte> memory);

  // -- queries
  bool enabled() const { return settings_.enabled; }
  bool full() const { return count_ == entries_.size(); }
  Nanoseconds next_deadline() const;  // max() when nothing waits

  // -- requests; precondition: !full(). `source_order` decides between receives that join the queue at the same
  // instant (source rank, then stage: PROTOCOL 4). Returns when the send's occupancy will begin, unless a receive that
  // joins the queue at this very instant goes before it.
  Nanoseconds request_send(std::uint64_t ticket, std::uint64_t bytes, Nanoseconds now);
  void request_receive(std::uint64_t ticket, std::uint64_t bytes, std::uint64_t source_order, Nanoseconds now);

  // -- output: the transfer whose occupancy ended first, by `now` at the latest; false if none
  bool poll(Nanoseconds now, NicDue& out);

 private:
  struct Entry {
    std::uint64_t ticket;
    std::uint64_t bytes;
    std::uint64_t order;  // among entries with the same `asked`
    Nanoseconds asked;    // when it joined its port's queue (a receive: after the wire latency)
    bool is_send;
  };
  // The head of a port's queue and when its occupancy begins and ends.
  struct Head {
    std::uint32_t index;
    Nanoseconds began;
    Nanoseconds due;
  };
  std::uint32_t ports() const { return settings_.ports == NicPorts::kShared ? 1 : 2; }
  std::uint32_t port_of(const Entry& e) const { return ports() == 1 ? 0 : (e.is_send ? 1 : 0); }
  Nanoseconds arrival(std::uint64_t source_order, std::uint64_t bytes, Nanoseconds departs);
  Nanoseconds occupancy(const Entry& e) const;
  Nanoseconds free_after(std::uint32_t port, Nanoseconds now) const;
  bool head_of(std::uint32_t port, Head& out) const;
  bool earliest(Head& out) const;

  NicSettings settings_;
  std::span<Entry> entries_;
  std::uint32_t count_ = 0;
  std::uint64_t next_order_ = 0;
  Nanoseconds free_at_[2] = {0, 0};
  Nanoseconds wire_free_at_ = 0;  // serial_wire only
};

}  // namespace fibocast
