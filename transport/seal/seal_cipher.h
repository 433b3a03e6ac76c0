// One direction of a session: authenticated encryption of datagrams, each with its own counter as nonce.
#pragma once

#include <optional>
#include <span>

#include "transport/seal/aes_gcm.h"

namespace fibocast {

// Values go over the wire.
enum class SealAlgorithm : std::uint8_t { kAes256Gcm = 1, kChaCha20Poly1305 = 2 };
enum class SealMode : std::uint8_t {
  kSealed = 1,     // authenticated and encrypted
  kIntegrity = 2,  // authenticated, readable by everybody on the path
};

class SealCipher {
 public:
  static constexpr std::size_t kTagBytes = AesGcm::kTagBytes;

  // Precondition of kAes256Gcm: AesGcm::is_available().
  SealCipher(SealAlgorithm algorithm, const SecretKey& key);

  // `datagram` is a header of `header_bytes`, which stays readable, the text, and room for the tag; sealed in place.
  // Precondition: this counter was never used before with this object's key.
  void seal(SealMode mode, std::uint64_t counter, std::size_t header_bytes, std::span<std::byte> datagram) const;
  // The same without a header, from elsewhere: `datagram` has room for `text` and the tag.
  void seal(std::uint64_t counter, std::span<const std::byte> text, std::span<std::byte> datagram) const;
  // The text, in `room` or in the datagram itself; nothing if it was not sealed like this. Precondition: the datagram
  // has header and tag at least, `room` as many bytes as the text.
  std::optional<std::span<const std::byte>> open(SealMode mode, std::uint64_t counter, std::size_t header_bytes,
                                                 std::span<const std::byte> datagram, std::span<std::byte> room) const;

 private:
  void seal_parts(std::uint64_t counter, std::span<const std::byte> header, std::span<const std::byte> text,
                  std::span<std::byte> text_and_tag) const;

  std::optional<AesGcm> aes_;
  SecretKey key_;  // without AES
};

}  // namespace fibocast
