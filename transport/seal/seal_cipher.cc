#include "transport/seal/seal_cipher.h"

#include <array>

#include "transport/little_endian.h"

namespace fibocast {
namespace {

// Both algorithms have nonces of 12 bytes and tags of 16.
static_assert(crypto_aead_aes256gcm_NPUBBYTES == crypto_aead_chacha20poly1305_ietf_NPUBBYTES);
static_assert(crypto_aead_aes256gcm_ABYTES == SealCipher::kTagBytes);
static_assert(crypto_aead_chacha20poly1305_ietf_ABYTES == SealCipher::kTagBytes);
using Nonce = std::array<std::byte, crypto_aead_aes256gcm_NPUBBYTES>;

Nonce nonce_of(std::uint64_t counter) {
  Nonce nonce{};
  little_endian::put(nonce.data() + 4, counter);
  return nonce;
}

}  // namespace

SealCipher::SealCipher(SealAlgorithm algorithm, const SecretKey& key) : algorithm_(algorithm) {
  if (algorithm == SealAlgorithm::kAes256Gcm)
    crypto_aead_aes256gcm_beforenm(&aes_, key.raw());
  else
    key_ = key;
}

SealCipher::~SealCipher() { sodium_memzero(&aes_, sizeof aes_); }

void SealCipher::encrypt(const std::uint8_t* nonce, std::span<const std::byte> header, std::span<std::byte> text,
                         std::uint8_t* tag) const {
  if (algorithm_ == SealAlgorithm::kAes256Gcm)
    crypto_aead_aes256gcm_encrypt_detached_afternm(raw(text), tag, nullptr, raw(text), text.size(), raw(header),
                                                   header.size(), nullptr, nonce, &aes_);
  else
    crypto_aead_chacha20poly1305_ietf_encrypt_detached(raw(text), tag, nullptr, raw(text), text.size(), raw(header),
                                                       header.size(), nullptr, nonce, key_.raw());
}

bool SealCipher::decrypt(const std::uint8_t* nonce, std::span<const std::byte> header, std::span<const std::byte> text,
                         const std::uint8_t* tag, std::uint8_t* out) const {
  if (algorithm_ == SealAlgorithm::kAes256Gcm)
    return crypto_aead_aes256gcm_decrypt_detached_afternm(out, nullptr, raw(text), text.size(), tag, raw(header),
                                                          header.size(), nonce, &aes_) == 0;
  return crypto_aead_chacha20poly1305_ietf_decrypt_detached(out, nullptr, raw(text), text.size(), tag, raw(header),
                                                            header.size(), nonce, key_.raw()) == 0;
}

void SealCipher::seal(SealMode mode, std::uint64_t counter, std::size_t header_bytes,
                      std::span<std::byte> datagram) const {
  const Nonce nonce = nonce_of(counter);
  const std::size_t end = datagram.size() - kTagBytes;
  const std::size_t readable = mode == SealMode::kSealed ? header_bytes : end;
  encrypt(raw(std::span(nonce)), datagram.first(readable), datagram.subspan(readable, end - readable),
          raw(datagram.subspan(end)));
}

std::optional<std::span<const std::byte>> SealCipher::open(SealMode mode, std::uint64_t counter,
                                                           std::size_t header_bytes,
                                                           std::span<const std::byte> datagram,
                                                           std::span<std::byte> room) const {
  const Nonce nonce = nonce_of(counter);
  const std::size_t end = datagram.size() - kTagBytes;
  const std::size_t readable = mode == SealMode::kSealed ? header_bytes : end;
  if (!decrypt(raw(std::span(nonce)), datagram.first(readable), datagram.subspan(readable, end - readable),
               raw(datagram.subspan(end)), raw(room)))
    return {};
  if (mode == SealMode::kSealed) return room.first(end - header_bytes);
  return datagram.subspan(header_bytes, end - header_bytes);
}

}  // namespace fibocast
