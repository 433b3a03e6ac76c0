#include "transport/seal/seal_cipher.h"

#include <array>

#include "transport/little_endian.h"

namespace fibocast {
namespace {

// Both algorithms have nonces of 12 bytes and tags of 16.
static_assert(AesGcm::kNonceBytes == crypto_aead_chacha20poly1305_ietf_NPUBBYTES);
static_assert(AesGcm::kTagBytes == crypto_aead_chacha20poly1305_ietf_ABYTES);
using Nonce = AesGcm::Nonce;

Nonce nonce_of(std::uint64_t counter) {
  Nonce nonce{};
  little_endian::put(nonce.data() + 4, counter);
  return nonce;
}

}  // namespace

SealCipher::SealCipher(SealAlgorithm algorithm, const SecretKey& key) {
  if (algorithm == SealAlgorithm::kAes256Gcm)
    aes_.emplace(key);
  else
    key_ = key;
}

void SealCipher::seal(SealMode mode, std::uint64_t counter, std::size_t header_bytes,
                      std::span<std::byte> datagram) const {
  const std::size_t end = datagram.size() - kTagBytes;
  const std::size_t readable = mode == SealMode::kSealed ? header_bytes : end;
  seal_parts(counter, datagram.first(readable), datagram.subspan(readable, end - readable), datagram.subspan(readable));
}

void SealCipher::seal(std::uint64_t counter, std::span<const std::byte> text, std::span<std::byte> datagram) const {
  seal_parts(counter, {}, text, datagram);
}

void SealCipher::seal_parts(std::uint64_t counter, std::span<const std::byte> header, std::span<const std::byte> text,
                            std::span<std::byte> text_and_tag) const {
  const Nonce nonce = nonce_of(counter);
  const auto tag = text_and_tag.last(kTagBytes);
  if (aes_) return aes_->seal(nonce, header, text, text_and_tag.data(), tag.data());
  crypto_aead_chacha20poly1305_ietf_encrypt_detached(raw(text_and_tag), raw(tag), nullptr, raw(text), text.size(),
                                                     raw(header), header.size(), nullptr, raw(std::span(nonce)),
                                                     key_.raw());
}

std::optional<std::span<const std::byte>> SealCipher::open(SealMode mode, std::uint64_t counter,
                                                           std::size_t header_bytes,
                                                           std::span<const std::byte> datagram,
                                                           std::span<std::byte> room) const {
  const Nonce nonce = nonce_of(counter);
  const std::size_t end = datagram.size() - kTagBytes;
  const std::size_t readable = mode == SealMode::kSealed ? header_bytes : end;
  const auto header = datagram.first(readable), text = datagram.subspan(readable, end - readable);
  const auto tag = datagram.subspan(end);
  const bool sealed_like_this = aes_ ? aes_->open(nonce, header, text, tag.data(), room.data())
                                     : crypto_aead_chacha20poly1305_ietf_decrypt_detached(
                                           raw(room), nullptr, raw(text), text.size(), raw(tag), raw(header),
                                           header.size(), raw(std::span(nonce)), key_.raw()) == 0;
  if (!sealed_like_this) return {};
  if (mode == SealMode::kSealed) return room.first(end - header_bytes);
  return datagram.subspan(header_bytes, end - header_bytes);
}

}  // namespace fibocast
