// Frames of a peer that has done its handshake and says anything after it: what random bytes alone would never reach.
#pragma once

#include <vector>

#include "tests/fuzz/targets.h"
#include "transport/frame.h"

namespace fibocast::fuzz {

class PeerFrames {
 public:
  static constexpr std::uint64_t kIncarnation = 0x1234'5679;
  PeerFrames(NodeId self, NodeId to, std::uint64_t digest) : self_(self), to_(to), digest_(digest) {}

  // A frame that came from there: its session is known from now on.
  void hear(Bytes frame);
  std::vector<std::byte> hello();
  std::vector<std::byte> small(Bytes body, Bytes payload);  // the next in its lane
  std::vector<std::byte> fragment(const FragmentBody& fragment, Bytes payload);
  std::vector<std::byte> acknowledgement();

 private:
  Frame fill(FrameType type);
  static std::vector<std::byte> bytes_of(Frame& frame, Bytes payload);

  NodeId self_, to_;
  std::uint64_t digest_;
  std::uint64_t counter_ = 0;
  std::uint32_t session_there_ = 0;
  std::uint32_t small_ = 0, bulk_ = 0;              // next sequences of ours
  std::uint32_t small_heard_ = 0, bulk_heard_ = 0;  // of theirs
};

}  // namespace fibocast::fuzz
