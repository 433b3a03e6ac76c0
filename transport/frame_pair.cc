#include "transport/frame_pair.h"

#include <algorithm>

namespace fibocast {
namespace {

std::byte* append(std::byte* at, std::span<const std::byte> bytes) { return std::ranges::copy(bytes, at).out; }

}  // namespace

bool FramePair::hold(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  const std::size_t bytes = head.size() + payload.size();
  if (bytes > kMostSmall) return false;
  append(append(&room_[kSmallAt], head), payload);
  to_ = to, bytes_ = bytes;
  return true;
}

std::optional<FramePair::Pieces> FramePair::with(NodeId self, std::span<const std::byte> head,
                                                 std::span<const std::byte> payload) {
  const bool two_pieces = !payload.empty();
  if (two_pieces && head.size() > kMostHead) return std::nullopt;
  std::byte* const begin = room_.data();
  append(append(begin, fan_out::encode(fan_out::Head{.from = self, .frames = 2})), fan_out::encode_entry(to_, bytes_));
  std::byte* end = append(begin + kSmallAt + bytes_, fan_out::encode_entry(to_, head.size() + payload.size()));
  if (!two_pieces) return Pieces{{begin, end}, head};
  return Pieces{{begin, append(end, head)}, payload};
}

}  // namespace fibocast
