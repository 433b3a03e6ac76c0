// Two channels joined by a seeded bad link, in virtual time: a failure is replayed by its seed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <random>

#include "tests/transport/traffic.h"

namespace fibocast::test {

struct Link {
  double loss = 0;
  double duplicates = 0;
  Nanoseconds delay = 25'000;  // one way
  Nanoseconds jitter = 0;      // up to this much more: reorders
};

class VirtualPair {
 public:
  struct Side {
    std::vector<std::max_align_t> memory;
    std::uint64_t ready = 0;
    std::unique_ptr<ReliableChannel> channel;
    std::unique_ptr<Traffic> traffic;
    bool up = false;
  };
  VirtualPair(Link link, std::uint32_t seed, ChannelLimits limits = {});

  // A new incarnation of this side starts, with nothing remembered, and connects.
  void start(int side, std::uint64_t incarnation);
  void stop(int side) { sides[side].up = false; }
  // One event: a frame arrives or a deadline passes. False: nothing is ever to come.
  bool step();
  // Until the condition holds; false if it does not within this virtual time.
  bool run_until(const std::function<bool()>& condition, Nanoseconds at_most = 600'000'000'000);
  void run_for(Nanoseconds duration);
  // Sends what the side's channel has to send, after commands were given to it.
  void drain(int side);
  bool both_done() const;

  Side sides[2];
  ChannelSettings settings[2];
  Link link;
  Nanoseconds now = 0;
  // Sees each frame before the link; may change it; false loses it.
  std::function<bool(int from, std::vector<std::byte>& bytes)> tap;
  // Hears of each frame that leaves, before the tap.
  std::function<void(const Transmit& frame, FrameType type)> sent;

 private:
  struct Arrival {
    int to;
    std::vector<std::byte> bytes;
  };
  void put_on_wire(int from, std::vector<std::byte> bytes);
  Nanoseconds deadline(int side) const;

  std::mt19937 random_;
  ChannelLimits limits_;
  std::multimap<Nanoseconds, Arrival> wire_;
};

}  // namespace fibocast::test
