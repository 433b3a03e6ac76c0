#include "runtime/node/peer_message.h"
#include "tests/fuzz/input.h"
#include "transport/frame.h"

namespace fibocast::fuzz {

// What was read is written so that it reads the same. A frame brings no more than kMaxBodyBytes.
void fuzz_peer_message(Bytes input) {
  const auto message = decode_peer_message(input.first(std::min(input.size(), kMaxBodyBytes)));
  if (!message) return;
  std::array<std::byte, kMaxPeerMessage> once, twice;
  const std::size_t bytes = encode_peer_message(*message, once);
  const auto again = decode_peer_message(std::span<const std::byte>(once).first(bytes));
  require(again.has_value());
  require(encode_peer_message(*again, twice) == bytes);
  require(std::equal(once.begin(), once.begin() + static_cast<std::ptrdiff_t>(bytes), twice.begin()));
}

}  // namespace fibocast::fuzz
