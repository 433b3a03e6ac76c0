// One direction of a session: authenticated encryption of datagrams, each with its own counter as nonce.
#pragma once

#include <optional>
#include <span>

#include "transport/seal/secret.h"

namespace fibocast {

// Values go over the wire.
enum class SealAlgorithm : std::uint8_t { kAes256Gcm = 1, kChaCha20Poly1305 = 2 };
enum class SealMode : std::uint8_t {
  kSealed = 1,     // authenticated and encrypted
  kIntegrity = 2,  // authenticated, readable by everybody on the path
};

class SealCipher {
 public:
  static constexpr std::size_t kTagBytes = 16;

  // libsodium's AES needs instructions of the processor. Precondition: sodium_init().
  static bool has_aes() { return crypto_aead_aes256gcm_is_available() == 1; }

  SealCipher(SealAlgorithm algorithm, const SecretKey& key);
  ~SealCipher();
  SealCipher(const SealCipher&) = delete;
  SealCipher& operator=(const SealCipher&) = delete;

  // `datagram` is a header of `header_bytes`, which stays readable, the text, and room for the tag; sealed in place.
  // Precondition: this counter was never used before with this object's key.
  void seal(SealMode mode, std::uint64_t counter, std::size_t header_bytes, std::span<std::byte> datagram) const;
  // The text, in `room` or in the datagram itself; nothing if it was not sealed like this. Precondition: the datagram
  // has header and tag at least, `room` as many bytes as the text.
  std::optional<std::span<const std::byte>> open(SealMode mode, std::uint64_t counter, std::size_t header_bytes,
                                                 std::span<const std::byte> datagram, std::span<std::byte> room) const;

 private:
  void encrypt(const std::uint8_t* nonce, std::span<const std::byte> header, std::span<std::byte> text,
               std::uint8_t* tag) const;
  bool decrypt(const std::uint8_t* nonce, std::span<const std::byte> header, std::span<const std::byte> text,
               const std::uint8_t* tag, std::uint8_t* out) const;

  crypto_aead_aes256gcm_state aes_;  // with AES: the expanded key
  SecretKey key_;                    // else
  SealAlgorithm algorithm_;
};

}  // namespace fibocast
