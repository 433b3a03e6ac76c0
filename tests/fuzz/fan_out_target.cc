#include <vector>

#include "tests/fuzz/input.h"
#include "transport/fan_out_datagram.h"

namespace fibocast::fuzz {

void fuzz_fan_out(Bytes input) {
  if (const auto answer = fan_out::decode_answer(input)) {
    const auto again = fan_out::encode(*answer);
    require(std::equal(again.begin(), again.end(), input.begin(), input.end()));
  }
  const auto parts = fan_out::decode(input);
  if (!parts) return;
  std::size_t frames = 0, bytes = fan_out::kHeadBytes;
  fan_out::for_each_frame(parts->frames, [&](NodeId, Bytes frame, bool shares) {
    require(!shares || parts->head.shares);
    require(frame.data() >= input.data() && frame.data() + frame.size() <= input.data() + input.size());
    ++frames, bytes += fan_out::kEntryBytes + frame.size();
  });
  require(frames == parts->head.frames && bytes + parts->payload.size() == input.size());
  require(parts->payload.empty() != parts->head.shares);
}

}  // namespace fibocast::fuzz
