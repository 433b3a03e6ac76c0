// AES-256-GCM by Intel's ipsec-mb, which needs a third of the time of libsodium's for a short text and a sixth for a
// long one. For processors that have the instructions; where there are none, ChaCha20-Poly1305 takes its place.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "transport/seal/secret.h"

struct gcm_key_data;  // of ipsec-mb

namespace fibocast {

class AesGcm {
 public:
  static constexpr std::size_t kNonceBytes = 12, kTagBytes = 16;
  using Nonce = std::array<std::byte, kNonceBytes>;

  // Whether this processor, and this build, has what it takes. Any thread.
  static bool is_available();

  // Precondition: is_available().
  explicit AesGcm(const SecretKey& key);

  // Encrypts `text` into `out`, which has as many bytes and may be the text's own place, and writes the tag of it and
  // of `header`. Precondition: this nonce was never used before with this key.
  void seal(const Nonce& nonce, std::span<const std::byte> header, std::span<const std::byte> text, std::byte* out,
            std::byte* tag) const;
  // Decrypts `text` into `out`, which has as many bytes. False: it was not sealed like this, and what is in `out` means
  // nothing.
  bool open(const Nonce& nonce, std::span<const std::byte> header, std::span<const std::byte> text,
            const std::byte* tag, std::byte* out) const;

 private:
  struct Wipe {
    void operator()(gcm_key_data* key) const;
  };
  std::unique_ptr<gcm_key_data, Wipe> key_;  // expanded
};

}  // namespace fibocast
