#include "tests/transport/virtual_pair.h"

#include <algorithm>

namespace fibocast::test {

VirtualPair::VirtualPair(Link l, std::uint32_t seed, ChannelLimits limits) : link(l), random_(seed), limits_(limits) {
  for (NodeId i = 0; i < 2; ++i) {
    settings[i].self = i;
    settings[i].peer = 1 - i;
  }
}

void VirtualPair::start(int side, std::uint64_t incarnation) {
  Side& s = sides[side];
  settings[side].incarnation = incarnation;
  s.channel.reset();
  s.memory.assign(ReliableChannel::bytes_needed(limits_) / sizeof(std::max_align_t) + 1, {});
  s.channel = std::make_unique<ReliableChannel>(limits_, settings[side], std::as_writable_bytes(std::span(s.memory)),
                                                ReadyFlag(s.ready, 0));
  s.traffic = std::make_unique<Traffic>();
  s.up = true;
  s.channel->connect(now);
  drain(side);
}

void VirtualPair::drain(int side) {
  Side& s = sides[side];
  Delivery delivery;
  while (s.channel->poll_delivery(delivery)) s.traffic->take(delivery, *s.channel);
  s.traffic->pump(*s.channel, now);
  std::array<std::byte, kMaxHeadBytes> scratch;
  Transmit out;
  while (s.channel->poll_transmit(now, scratch, out)) {
    std::vector<std::byte> bytes(out.head.begin(), out.head.end());
    if (sent) sent(out, decode_frame_head(out.head, out.payload.length)->type);
    const auto payload = s.traffic->bytes(out.payload);
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    put_on_wire(side, std::move(bytes));
  }
}

void VirtualPair::put_on_wire(int from, std::vector<std::byte> bytes) {
  std::uniform_real_distribution<double> chance(0, 1);
  if (tap && !tap(from, bytes)) return;
  const int copies = chance(random_) < link.duplicates ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    if (chance(random_) < link.loss) continue;
    const auto more = static_cast<Nanoseconds>(chance(random_) * static_cast<double>(link.jitter));
    wire_.insert({now + link.delay + more, {1 - from, bytes}});
  }
}

Nanoseconds VirtualPair::deadline(int side) const {
  return sides[side].up ? sides[side].channel->next_deadline() : kNoDeadline;
}

bool VirtualPair::step() {
  const Nanoseconds timer = std::min(deadline(0), deadline(1));
  const Nanoseconds frame = wire_.empty() ? kNoDeadline : wire_.begin()->first;
  if (std::min(timer, frame) == kNoDeadline) return false;
  now = std::max(now, std::min(timer, frame));
  if (frame <= timer) {
    const Arrival arrival = std::move(wire_.begin()->second);
    wire_.erase(wire_.begin());
    Side& s = sides[arrival.to];
    const auto decoded = decode_frame(arrival.bytes);
    if (!s.up || !decoded) return true;
    s.channel->on_frame(*decoded, now);
    drain(arrival.to);
    return true;
  }
  const int side = deadline(0) <= deadline(1) ? 0 : 1;
  sides[side].channel->on_timer(now);
  drain(side);
  return true;
}

bool VirtualPair::run_until(const std::function<bool()>& condition, Nanoseconds at_most) {
  const Nanoseconds end = now + at_most;
  while (!condition()) {
    if (now > end || !step()) return condition();
  }
  return true;
}

void VirtualPair::run_for(Nanoseconds duration) {
  const Nanoseconds end = now + duration;
  while (std::min({deadline(0), deadline(1), wire_.empty() ? kNoDeadline : wire_.begin()->first}) <= end) step();
  now = end;
}

bool VirtualPair::both_done() const {
  return std::ranges::all_of(sides, [](const Side& s) {
    return s.traffic->all_handed_over() && s.channel->state() == ChannelState::kConnected &&
           s.channel->all_acknowledged();
  });
}

}  // namespace fibocast::test
