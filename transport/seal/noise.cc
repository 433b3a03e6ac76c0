#include "transport/seal/noise.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace fibocast {
namespace {

constexpr std::string_view kProtocolName = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b";
constexpr std::size_t kBlockBytes = 128;  // of BLAKE2b
constexpr std::size_t kPublicBytes = 32;
constexpr std::size_t kTagBytes = 16;
// Each cipher key of this pattern encrypts one payload only.
constexpr std::array<std::uint8_t, crypto_aead_chacha20poly1305_ietf_NPUBBYTES> kFirstNonce{};

}  // namespace

struct NoiseHandshake::Derived {
  Hash first, second, third;
};

NoiseHandshake::NoiseHandshake(std::span<const std::byte, kKeyBytes> psk, std::span<const std::byte> prologue,
                               const SecretKey& ephemeral)
    : ephemeral_(ephemeral) {
  static_assert(kProtocolName.size() <= kHashBytes);
  std::memcpy(hash_.raw(), kProtocolName.data(), kProtocolName.size());
  chaining_key_ = hash_;
  mix_hash(prologue);
  mix_key_and_hash(psk);
}

// HMAC-BLAKE2b (RFC 2104) of one text in two parts.
NoiseHandshake::Hash NoiseHandshake::hmac(const Hash& key, std::span<const std::byte> first,
                                          std::span<const std::byte> second) {
  SecretBytes<kBlockBytes> pad;
  Hash inner, outer;
  crypto_generichash_state state;
  const auto begin = [&](std::uint8_t mask) {
    std::ranges::fill(pad.bytes, static_cast<std::byte>(mask));
    for (std::size_t i = 0; i < kHashBytes; ++i) pad.bytes[i] ^= key.bytes[i];
    crypto_generichash_init(&state, nullptr, 0, kHashBytes);
    crypto_generichash_update(&state, pad.raw(), kBlockBytes);
  };
  begin(0x36);
  if (!first.empty()) crypto_generichash_update(&state, ::fibocast::raw(first), first.size());
  if (!second.empty()) crypto_generichash_update(&state, ::fibocast::raw(second), second.size());
  crypto_generichash_final(&state, inner.raw(), kHashBytes);
  begin(0x5c);
  crypto_generichash_update(&state, inner.raw(), kHashBytes);
  crypto_generichash_final(&state, outer.raw(), kHashBytes);
  sodium_memzero(&state, sizeof state);
  return outer;
}

// HKDF as Noise has it.
NoiseHandshake::Derived NoiseHandshake::derive(const Hash& key, std::span<const std::byte> material, bool third) {
  constexpr std::array<std::byte, 3> kNumbers = {std::byte{1}, std::byte{2}, std::byte{3}};
  const auto number = [&](std::size_t i) { return std::span(kNumbers).subspan(i, 1); };
  const Hash extracted = hmac(key, material);
  Derived out;
  out.first = hmac(extracted, number(0));
  out.second = hmac(extracted, out.first.span(), number(1));
  if (third) out.third = hmac(extracted, out.second.span(), number(2));
  return out;
}

void NoiseHandshake::mix_hash(std::span<const std::byte> data) {
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, kHashBytes);
  crypto_generichash_update(&state, hash_.raw(), kHashBytes);
  if (!data.empty()) crypto_generichash_update(&state, raw(data), data.size());
  crypto_generichash_final(&state, hash_.raw(), kHashBytes);
}

void NoiseHandshake::mix_key(std::span<const std::byte> material) {
  const Derived derived = derive(chaining_key_, material, false);
  chaining_key_ = derived.first;
  std::ranges::copy(derived.second.span().first<kKeyBytes>(), cipher_key_.bytes.begin());
}

void NoiseHandshake::mix_key_and_hash(std::span<const std::byte> material) {
  const Derived derived = derive(chaining_key_, material, true);
  chaining_key_ = derived.first;
  mix_hash(derived.second.span());
  std::ranges::copy(derived.third.span().first<kKeyBytes>(), cipher_key_.bytes.begin());
}

// False: the peer's public key is one of the few that give everybody the same secret.
bool NoiseHandshake::mix_secret() {
  SecretKey secret;
  if (crypto_scalarmult_curve25519(secret.raw(), ephemeral_.raw(), raw(std::span(peer_ephemeral_))) != 0) return false;
  mix_key(secret.span());
  return true;
}

void NoiseHandshake::write_ephemeral(std::span<std::byte> out) {
  crypto_scalarmult_curve25519_base(raw(out), ephemeral_.raw());
  mix_hash(out.first(kPublicBytes));
  mix_key(out.first(kPublicBytes));
}

void NoiseHandshake::read_ephemeral(std::span<const std::byte> message) {
  std::ranges::copy(message.first(kPublicBytes), peer_ephemeral_.begin());
  mix_hash(peer_ephemeral_);
  mix_key(peer_ephemeral_);
}

void NoiseHandshake::encrypt(std::span<const std::byte> payload, std::span<std::byte> out) {
  crypto_aead_chacha20poly1305_ietf_encrypt(raw(out), nullptr, raw(payload), payload.size(), hash_.raw(), kHashBytes,
                                            nullptr, kFirstNonce.data(), cipher_key_.raw());
  mix_hash(out.first(payload.size() + kTagBytes));
}

bool NoiseHandshake::decrypt(std::span<const std::byte> sealed, std::span<std::byte> payload) {
  if (crypto_aead_chacha20poly1305_ietf_decrypt(raw(payload), nullptr, nullptr, raw(sealed), sealed.size(), hash_.raw(),
                                                kHashBytes, kFirstNonce.data(), cipher_key_.raw()) != 0)
    return false;
  mix_hash(sealed);
  return true;
}

void NoiseHandshake::write_first(std::span<const std::byte> payload, std::span<std::byte> out) {
  write_ephemeral(out);
  encrypt(payload, out.subspan(kPublicBytes));
}

bool NoiseHandshake::read_first(std::span<const std::byte> message, std::span<std::byte> payload) {
  if (message.size() != payload.size() + kOverhead) return false;
  read_ephemeral(message);
  return decrypt(message.subspan(kPublicBytes), payload);
}

bool NoiseHandshake::write_second(std::span<const std::byte> payload, std::span<std::byte> out) {
  write_ephemeral(out);
  if (!mix_secret()) return false;
  encrypt(payload, out.subspan(kPublicBytes));
  return true;
}

bool NoiseHandshake::read_second(std::span<const std::byte> message, std::span<std::byte> payload) {
  if (message.size() != payload.size() + kOverhead) return false;
  read_ephemeral(message);
  return mix_secret() && decrypt(message.subspan(kPublicBytes), payload);
}

NoiseHandshake::Keys NoiseHandshake::split() const {
  const Derived derived = derive(chaining_key_, {}, false);
  Keys keys;
  std::ranges::copy(derived.first.span().first<kKeyBytes>(), keys.to_responder.bytes.begin());
  std::ranges::copy(derived.second.span().first<kKeyBytes>(), keys.to_initiator.bytes.begin());
  return keys;
}

}  // namespace fibocast
