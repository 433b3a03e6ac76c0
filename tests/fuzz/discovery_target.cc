#include "runtime/daemon/discovery_message.h"
#include "runtime/daemon/discovery_seal.h"
#include "tests/fuzz/text_input.h"

namespace fibocast::fuzz {

void fuzz_keys(Bytes input) {
  try {
    const KeyRing ring = KeyRing::parse(text_of(input));
    require(KeyRing::parse(ring.print()).print() == ring.print());
  } catch (const KeyError& mistake) {
    require(!std::string_view(mistake.what()).empty());
  }
  static DiscoverySeal seal(KeyRing(ClusterKey::generate()), 1);
  require(!seal.open(text_of(input), 0));
}

void fuzz_discovery(Bytes input) {
  const auto message = read_message("fuzz", text_of(input));
  if (!message) return;
  const std::string once = write_message("fuzz", *message);
  const auto again = read_message("fuzz", once);
  require(again && write_message("fuzz", *again) == once);
}

}  // namespace fibocast::fuzz
