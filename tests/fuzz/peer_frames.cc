#include "tests/fuzz/peer_frames.h"

#include <algorithm>
#include <array>

namespace fibocast::fuzz {

void PeerFrames::hear(Bytes bytes) {
  const auto frame = decode_frame(bytes);
  if (!frame || frame->to != self_) return;
  session_there_ = frame->from_session;
  if (frame->type == FrameType::kDataSmall) small_heard_ = std::max(small_heard_, frame->sequence + 1);
  if (frame->type == FrameType::kDataBulk) bulk_heard_ = std::max(bulk_heard_, frame->sequence + 1);
}

std::vector<std::byte> PeerFrames::hello() {
  Frame frame = fill(FrameType::kHello);
  std::array<std::byte, HelloBody::kBytes> body;
  encode_hello({digest_, kIncarnation, 500'000, 25'000'000}, body);
  frame.body = body;
  return bytes_of(frame, {});
}

std::vector<std::byte> PeerFrames::small(Bytes body, Bytes payload) {
  Frame frame = fill(FrameType::kDataSmall);
  frame.sequence = small_++;
  frame.body = body.first(std::min(body.size(), kMaxBodyBytes));
  return bytes_of(frame, payload);
}

std::vector<std::byte> PeerFrames::fragment(const FragmentBody& fragment, Bytes payload) {
  Frame frame = fill(FrameType::kDataBulk);
  frame.sequence = bulk_++;
  std::array<std::byte, FragmentBody::kBytes> body;
  encode_fragment(fragment, body);
  frame.body = body;
  return bytes_of(frame, payload);
}

std::vector<std::byte> PeerFrames::acknowledgement() {
  Frame frame = fill(FrameType::kAck);
  return bytes_of(frame, {});
}

Frame PeerFrames::fill(FrameType type) {
  Frame frame;
  frame.type = type;
  frame.counter = ++counter_;
  frame.from = self_, frame.to = to_;
  frame.from_session = static_cast<std::uint32_t>(kIncarnation), frame.to_session = session_there_;
  frame.small_ack = small_heard_, frame.bulk_ack = bulk_heard_;
  frame.bulk_grant = 1 << 16;
  return frame;
}

std::vector<std::byte> PeerFrames::bytes_of(Frame& frame, Bytes payload) {
  frame.payload_length = static_cast<std::uint32_t>(payload.size());
  std::array<std::byte, kMaxHeadBytes> head;
  const std::size_t bytes = encode_frame_head(frame, head);
  std::vector<std::byte> all(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(bytes));
  all.insert(all.end(), payload.begin(), payload.end());
  return all;
}

}  // namespace fibocast::fuzz
