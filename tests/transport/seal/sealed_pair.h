// Nodes whose sealers talk through a wire that the test holds: it sees, keeps, loses, changes and repeats datagrams.
// Everything random comes from a seed.
#pragma once

#include <deque>
#include <random>
#include <vector>

#include "transport/seal/sealer.h"

namespace fibocast::test {

using Bytes = std::vector<std::byte>;

inline ClusterKey key_of(std::uint8_t byte) {
  std::array<std::byte, kKeyBytes> key;
  key.fill(static_cast<std::byte>(byte));
  return ClusterKey(key);
}

// A frame of the channel, 104 bytes of head, with a payload of this many bytes.
inline Bytes plain_frame(NodeId from, NodeId to, std::size_t payload = 0, FrameType type = FrameType::kDataSmall) {
  Frame frame;
  frame.type = type;
  frame.from = from;
  frame.to = to;
  frame.payload_length = static_cast<std::uint32_t>(payload);
  Bytes bytes(kMaxHeadBytes);
  bytes.resize(encode_frame_head(frame, bytes));
  bytes.resize(bytes.size() + payload, std::byte{0x5a});
  return bytes;
}

struct Datagram {
  NodeId from, to;
  Bytes bytes;
};

class SealedPair {
 public:
  struct Side {
    std::unique_ptr<Sealer> sealer;
    std::vector<Bytes> received;
    std::vector<Sealer::Refusal> refusals;
  };

  explicit SealedPair(SealMode mode = SealMode::kSealed, bool aes = true, std::size_t largest = 40'000)
      : largest_frame(largest) {
    for (NodeId self : {0u, 1u}) restart(self, settings(self, mode, aes), KeyRing(key_of(7)));
  }
  SealSettings settings(NodeId self, SealMode mode = SealMode::kSealed, bool aes = true) const {
    SealSettings s;
    s.self = self, s.nodes = 2, s.incarnation = 1000 + self, s.cluster = "test", s.mode = mode, s.may_use_aes = aes;
    s.first_stamp = next_stamp, s.largest_frame = largest_frame;
    return s;
  }
  void restart(NodeId self, const SealSettings& s, KeyRing ring) {
    next_stamp += 1'000'000;
    sides[self].sealer = std::make_unique<Sealer>(
        s, std::move(ring),
        Sealer::Host{.send = [this, self](NodeId to, std::span<const std::byte> d) { put(self, to, d); },
                     .random =
                         [this](std::span<std::byte> out) {
                           for (std::byte& b : out) b = static_cast<std::byte>(random());
                         },
                     .on_refused = [this, self](Sealer::Refusal why, NodeId, KeyId,
                                                const KeyRing&) { sides[self].refusals.push_back(why); }});
  }
  void put(NodeId from, NodeId to, std::span<const std::byte> d) {
    wire.push_back({from, to, Bytes(d.begin(), d.end())});
  }

  void send(NodeId from, const Bytes& frame) {
    const auto sealed = sides[from].sealer->seal(1 - from, frame, {}, now);
    if (!sealed.empty()) put(from, 1 - from, sealed);
  }
  bool give(NodeId to, std::span<const std::byte> d) {
    const auto opened = sides[to].sealer->open(d, now);
    if (!opened.frame.empty()) sides[to].received.emplace_back(opened.frame.begin(), opened.frame.end());
    return opened.authentic;
  }
  // Everything on the wire arrives, and what that leads to.
  void deliver() {
    while (!wire.empty()) {
      const Datagram d = std::move(wire.front());
      wire.pop_front();
      captured.push_back(d);
      give(d.to, d.bytes);
    }
  }
  void connect() {
    send(0, plain_frame(0, 1));
    deliver();
  }
  const SealCounters& counters(NodeId self) const { return sides[self].sealer->counters(); }

  Nanoseconds now = 1'000'000'000;
  const std::size_t largest_frame;
  std::uint64_t next_stamp = 1'000'000;
  std::mt19937 random{42};
  std::deque<Datagram> wire;
  std::vector<Datagram> captured;
  Side sides[2];
};

}  // namespace fibocast::test
