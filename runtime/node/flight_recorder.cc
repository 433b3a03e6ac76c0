#include "runtime/node/flight_recorder.h"

namespace fibocast {

std::uint64_t pack_choice(const AlgorithmChoice& choice, ElementType type, CombineOperator op) {
  return static_cast<std::uint64_t>(choice.algorithm) | static_cast<std::uint64_t>(choice.tree) << 8 |
         std::uint64_t{choice.parameter} << 16 | static_cast<std::uint64_t>(type) << 32 |
         static_cast<std::uint64_t>(op) << 40;
}

void unpack_choice(std::uint64_t value, AlgorithmChoice& choice, ElementType& type, CombineOperator& op) {
  choice = {static_cast<Algorithm>(value & 0xff), static_cast<TreeKind>(value >> 8 & 0xff),
            static_cast<std::uint16_t>(value >> 16 & 0xffff)};
  type = static_cast<ElementType>(value >> 32 & 0xff);
  op = static_cast<CombineOperator>(value >> 40 & 0xff);
}

}  // namespace fibocast
