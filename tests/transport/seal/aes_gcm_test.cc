// AES-256-GCM: published vectors, and what libsodium makes of the same.
#include "transport/seal/aes_gcm.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/transport/seal/hex.h"
#include "transport/seal/seal_cipher.h"

namespace fibocast {
namespace {

AesGcm::Nonce nonce_of(const Bytes& bytes) {
  AesGcm::Nonce nonce;
  std::ranges::copy(bytes, nonce.begin());
  return nonce;
}

Bytes some(std::size_t bytes, unsigned seed) {
  Bytes out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(i * 7 + seed);
  return out;
}

class Aes : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(sodium_init(), 0);
    if (!AesGcm::is_available()) GTEST_SKIP() << "this processor has no AES instructions";
  }
};

// McGrew and Viega, The Galois/Counter Mode of Operation, test case 16: text and header, neither of whole blocks.
TEST_F(Aes, MeetsAPublishedVector) {
  const SecretKey key = key_from_hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
  const auto nonce = nonce_of(from_hex("cafebabefacedbaddecaf888"));
  const Bytes header = from_hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
  const Bytes text = from_hex(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
      "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39");
  Bytes sealed = text, tag(AesGcm::kTagBytes);
  const AesGcm aes(key);
  aes.seal(nonce, header, sealed, sealed.data(), tag.data());
  EXPECT_EQ(sealed, from_hex("522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                             "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"));
  EXPECT_EQ(tag, from_hex("76fc6ece0f4e1768cddf8853bb2d551b"));
  Bytes opened(text.size());
  EXPECT_TRUE(aes.open(nonce, header, sealed, tag.data(), opened.data()));
  EXPECT_EQ(opened, text);
}

// Of the nonce that a counter of 0 makes: test case 14.
TEST_F(Aes, SealsADatagramByTheCounter) {
  const SealCipher cipher(SealAlgorithm::kAes256Gcm, SecretKey{});
  Bytes datagram(16 + SealCipher::kTagBytes);
  cipher.seal(SealMode::kSealed, 0, 0, datagram);
  EXPECT_EQ(datagram, from_hex("cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"));
}

TEST(SealCipher, SealsWhatLiesElsewhereAsInItsPlace) {
  for (const SealAlgorithm algorithm : {SealAlgorithm::kAes256Gcm, SealAlgorithm::kChaCha20Poly1305}) {
    if (algorithm == SealAlgorithm::kAes256Gcm && !AesGcm::is_available()) continue;
    const SealCipher cipher(algorithm, SecretKey{});
    const Bytes text = some(100, 3);
    Bytes in_place = text, from_elsewhere(text.size() + SealCipher::kTagBytes);
    in_place.resize(from_elsewhere.size());
    cipher.seal(SealMode::kSealed, 7, 0, in_place);
    cipher.seal(7, text, from_elsewhere);
    EXPECT_EQ(from_elsewhere, in_place);
  }
}

// Each length has a way of its own through the library.
TEST_F(Aes, IsWhatLibsodiumMakes) {
  if (crypto_aead_aes256gcm_is_available() == 0) GTEST_SKIP() << "libsodium has no AES here";
  SecretKey key;
  std::ranges::copy(some(kKeyBytes, 5), key.bytes.begin());
  const AesGcm aes(key);
  std::vector<std::size_t> lengths = {1023, 1024, 1200, 4095, 32'768, 65'535};
  for (std::size_t length = 1; length <= 700; ++length) lengths.push_back(length);
  for (const std::size_t length : lengths) {
    const auto nonce = nonce_of(some(AesGcm::kNonceBytes, static_cast<unsigned>(length)));
    const Bytes header = some(length % 40, 9), text = some(length, 1);
    Bytes ours = text, theirs = text, tag(AesGcm::kTagBytes), their_tag(AesGcm::kTagBytes), opened(length);
    aes.seal(nonce, header, ours, ours.data(), tag.data());
    crypto_aead_aes256gcm_encrypt_detached(raw(std::span(theirs)), raw(std::span(their_tag)), nullptr,
                                           raw(std::span(theirs)), length, raw(std::span(header)), header.size(),
                                           nullptr, raw(std::span(nonce)), key.raw());
    ASSERT_EQ(ours, theirs) << length;
    ASSERT_EQ(tag, their_tag) << length;
    tag.assign(AesGcm::kTagBytes, std::byte{});
    aes.seal(nonce, header, text, opened.data(), tag.data());
    ASSERT_EQ(opened, theirs) << "from elsewhere, " << length;
    ASSERT_EQ(tag, their_tag) << length;
    ASSERT_TRUE(aes.open(nonce, header, theirs, their_tag.data(), opened.data())) << length;
    ASSERT_EQ(opened, text) << length;
  }
}

TEST_F(Aes, OneOtherBitAnywhereIsFound) {
  const AesGcm aes(SecretKey{});
  const AesGcm::Nonce nonce{};
  Bytes header = some(16, 1), text = some(100, 2), tag(AesGcm::kTagBytes), out(text.size());
  aes.seal(nonce, header, text, text.data(), tag.data());
  for (Bytes* part : {&header, &text, &tag})
    for (std::size_t bit = 0; bit < 8 * part->size(); ++bit) {
      const auto flip = [&] { (*part)[bit / 8] ^= static_cast<std::byte>(1 << bit % 8); };
      flip();
      EXPECT_FALSE(aes.open(nonce, header, text, tag.data(), out.data())) << bit;
      flip();
    }
  EXPECT_TRUE(aes.open(nonce, header, text, tag.data(), out.data()));
}

}  // namespace
}  // namespace fibocast
