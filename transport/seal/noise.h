// The key agreement of two nodes: Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b of the Noise Protocol Framework, revision 34,
// with the primitives of libsodium. Ephemeral X25519 keys are mixed with the pre-shared cluster key: who does not have
// it can neither make nor read a message, and who gets it later cannot read what was recorded before.
//
//   -> psk, e      payload sealed under psk and e
//   <- e, ee       payload sealed under psk and the Diffie-Hellman secret
//
// Pure: the ephemeral private key is handed in. Wiped when it goes out of scope. A message that cannot be read leaves
// the state useless: read into a copy.
#pragma once

#include <optional>
#include <span>

#include "transport/seal/secret.h"

namespace fibocast {

class NoiseHandshake {
 public:
  static constexpr std::size_t kOverhead = 32 + 16;  // of a message: ephemeral public key and tag

  // `prologue`: what both must agree on besides. `ephemeral`: 32 random bytes, never used before.
  NoiseHandshake(std::span<const std::byte, kKeyBytes> psk, std::span<const std::byte> prologue,
                 const SecretKey& ephemeral);

  // In the order of the pattern: the initiator writes the first, reads the second. `out` has payload + kOverhead bytes.
  void write_first(std::span<const std::byte> payload, std::span<std::byte> out);
  bool read_first(std::span<const std::byte> message, std::span<std::byte> payload);
  bool write_second(std::span<const std::byte> payload, std::span<std::byte> out);
  bool read_second(std::span<const std::byte> message, std::span<std::byte> payload);

  struct Keys {
    SecretKey to_responder, to_initiator;
  };
  Keys split() const;

 private:
  static constexpr std::size_t kHashBytes = 64;
  using Hash = SecretBytes<kHashBytes>;
  struct Derived;
  static Hash hmac(const Hash& key, std::span<const std::byte> first, std::span<const std::byte> second = {});
  static Derived derive(const Hash& key, std::span<const std::byte> material, bool third);
  void mix_hash(std::span<const std::byte> data);
  void mix_key(std::span<const std::byte> material);
  void mix_key_and_hash(std::span<const std::byte> material);
  bool mix_secret();
  void write_ephemeral(std::span<std::byte> out);
  void read_ephemeral(std::span<const std::byte> message);
  void encrypt(std::span<const std::byte> payload, std::span<std::byte> out);
  bool decrypt(std::span<const std::byte> sealed, std::span<std::byte> payload);

  Hash chaining_key_, hash_;
  SecretKey cipher_key_;
  SecretKey ephemeral_;
  std::array<std::byte, 32> peer_ephemeral_{};
};

}  // namespace fibocast
