#include <vector>

#include "tests/fuzz/input.h"
#include "transport/frame.h"

namespace fibocast::fuzz {

void fuzz_frame(Bytes input) {
  const auto frame = decode_frame(input);
  if (!frame) return;
  require(frame->body.size() <= kMaxBodyBytes && frame->payload.size() == frame->payload_length);
  require(kFrameHeaderBytes + frame->body.size() + frame->payload.size() == input.size());
  std::array<std::byte, kMaxHeadBytes> head;
  const std::size_t bytes = encode_frame_head(*frame, head);
  const auto again = decode_frame(std::span<const std::byte>(head).first(bytes));
  require(frame->payload_length > 0 || (again && again->counter == frame->counter && again->echo == frame->echo));
  if (const auto hello = decode_hello(frame->body)) require(hello->incarnation != 0 && hello->idle_ack_delay >= 0);
  if (const auto fragment = decode_fragment(frame->body)) {
    std::array<std::byte, FragmentBody::kBytes> body;
    encode_fragment(*fragment, body);
    require(std::equal(body.begin(), body.end(), frame->body.begin()));
  }
}

}  // namespace fibocast::fuzz
