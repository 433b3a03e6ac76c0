// A payload that several nodes get at once, sealed once instead of once for each: under a key of its own, which is made
// for it, used for nothing else, and told to each of them with the frame's head, which is sealed for its link.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "transport/seal/seal_cipher.h"

namespace fibocast {

class SharedPayload {
 public:
  static constexpr std::size_t kOverhead = SealCipher::kTagBytes;

  // Whether bytes() are this payload, sealed like this. It must not have changed since.
  bool holds(std::span<const std::byte> payload, SealAlgorithm algorithm) const;
  // Precondition: `key` is new, and of kAes256Gcm AesGcm::is_available().
  void seal(std::span<const std::byte> payload, SealAlgorithm algorithm, const SecretKey& key);
  bool is_empty() const { return payload_.empty(); }
  // Before the payload may change.
  void forget();
  const SecretKey& key() const { return key_; }
  std::span<const std::byte> bytes() const { return sealed_; }

 private:
  std::span<const std::byte> payload_;
  SealAlgorithm algorithm_ = SealAlgorithm::kChaCha20Poly1305;
  SecretKey key_;
  std::vector<std::byte> sealed_;
};

// The payload, in `room`, which has bytes for it. False: it was not sealed like this.
bool open_shared_payload(std::span<const std::byte> sealed, SealAlgorithm algorithm, const SecretKey& key,
                         std::span<std::byte> room);

}  // namespace fibocast
