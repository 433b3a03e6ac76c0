#include "transport/emulated_nic.h"

#include <algorithm>
#include <limits>

#include "transport/memory_carver.h"

namespace fibocast {

namespace {

// The order of a port's queue: by request time, receives before sends, then by their own order (PROTOCOL 4).
template <class Entry>
bool goes_before(const Entry& a, const Entry& b) {
  if (a.asked != b.asked) return a.asked < b.asked;
  if (a.is_send != b.is_send) return !a.is_send;
  return a.order < b.order;
}

}  // namespace

std::size_t EmulatedNic::bytes_needed(std::uint32_t queue) { return carved_bytes<Entry>(queue); }

EmulatedNic::EmulatedNic(const NicSettings& settings, std::uint32_t queue, std::span<std::byte> memory)
    : settings_(settings), entries_(MemoryCarver(memory).take_untouched<Entry>(queue)) {}

Nanoseconds EmulatedNic::occupancy(const Entry& e) const {
  const double per_byte = e.is_send ? settings_.send_per_byte : settings_.receive_per_byte;
  const Nanoseconds fixed = e.is_send ? settings_.send : settings_.receive;
  return fixed + static_cast<Nanoseconds>(per_byte * static_cast<double>(e.bytes));
}

Nanoseconds EmulatedNic::request_send(std::uint64_t ticket, std::uint64_t bytes, Nanoseconds now) {
  check_channel(!full());
  const Entry entry{ticket, bytes, next_order_++, now, true};
  const Nanoseconds begins = free_after(port_of(entry), now);
  entries_[count_++] = entry;
  return begins;
}

// When the port has served all that had joined its queue by `now`.
Nanoseconds EmulatedNic::free_after(std::uint32_t port, Nanoseconds now) const {
  Nanoseconds work = 0, first = now;
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (port_of(entries_[i]) != port || entries_[i].asked > now) continue;
    work += occupancy(entries_[i]);
    first = std::min(first, entries_[i].asked);
  }
  return std::max(now, std::max(free_at_[port], first) + work);
}

void EmulatedNic::request_receive(std::uint64_t ticket, std::uint64_t bytes, std::uint64_t source_order,
                                  Nanoseconds now) {
  check_channel(!full());
  entries_[count_++] = Entry{ticket, bytes, source_order, arrival(source_order, bytes, now), false};
}

Nanoseconds EmulatedNic::arrival(std::uint64_t source_order, std::uint64_t bytes, Nanoseconds departs) {
  if (settings_.wire != nullptr) return settings_.wire(settings_.machine, source_order >> 8, bytes, departs);
  if (!settings_.serial_wire) return departs + settings_.latency;
  return wire_free_at_ = std::max(wire_free_at_, departs) + settings_.latency;
}

// A port's next transfer is fixed only when its occupancy ends: until it begins, an earlier one may still come.
bool EmulatedNic::head_of(std::uint32_t port, Head& out) const {
  std::uint32_t best = count_;
  for (std::uint32_t i = 0; i < count_; ++i)
    if (port_of(entries_[i]) == port && (best == count_ || goes_before(entries_[i], entries_[best]))) best = i;
  if (best == count_) return false;
  const Nanoseconds asked = entries_[best].asked;
  const Nanoseconds began = asked > free_at_[port] ? asked : free_at_[port];
  out = Head{best, began, began + occupancy(entries_[best])};
  return true;
}

bool EmulatedNic::earliest(Head& out) const {
  bool found = false;
  for (std::uint32_t port = 0; port < ports(); ++port) {
    Head head;
    if (head_of(port, head) && (!found || head.due < out.due)) out = head, found = true;
  }
  return found;
}

Nanoseconds EmulatedNic::next_deadline() const {
  Head head;
  return earliest(head) ? head.due : std::numeric_limits<Nanoseconds>::max();
}

bool EmulatedNic::poll(Nanoseconds now, NicDue& out) {
  Head head;
  if (!earliest(head) || head.due > now) return false;
  const Entry& e = entries_[head.index];
  out = NicDue{e.ticket, e.is_send, head.began, now - head.due};
  free_at_[port_of(e)] = head.due;
  entries_[head.index] = entries_[--count_];
  return true;
}

}  // namespace fibocast
