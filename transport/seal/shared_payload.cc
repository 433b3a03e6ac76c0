#include "transport/seal/shared_payload.h"

namespace fibocast {
namespace {
constexpr std::uint64_t kCounter = 0;  // the key is for one payload
}  // namespace

bool SharedPayload::holds(std::span<const std::byte> payload, SealAlgorithm algorithm) const {
  return payload.data() == payload_.data() && payload.size() == payload_.size() && algorithm == algorithm_;
}

void SharedPayload::seal(std::span<const std::byte> payload, SealAlgorithm algorithm, const SecretKey& key) {
  payload_ = payload;
  algorithm_ = algorithm;
  key_ = key;
  sealed_.resize(payload.size() + kOverhead);
  SealCipher(algorithm, key).seal(kCounter, payload, sealed_);
}

// Asked after every step of a node, most of which shared nothing.
void SharedPayload::forget() {
  if (is_empty()) return;
  payload_ = {};
  key_ = {};
}

bool open_shared_payload(std::span<const std::byte> sealed, SealAlgorithm algorithm, const SecretKey& key,
                         std::span<std::byte> room) {
  if (sealed.size() < SharedPayload::kOverhead || sealed.size() - SharedPayload::kOverhead != room.size()) return false;
  return SealCipher(algorithm, key).open(SealMode::kSealed, kCounter, 0, sealed, room).has_value();
}

}  // namespace fibocast
