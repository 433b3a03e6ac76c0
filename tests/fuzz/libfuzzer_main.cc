// One target under libFuzzer: FIBOCAST_FUZZ_TARGET names its function.
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fibocast::fuzz::FIBOCAST_FUZZ_TARGET(std::as_bytes(std::span(data, size)));
  return 0;
}
