#include "transport/seal/noise.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/transport/seal/hex.h"

namespace fibocast {
namespace {

// The vector for Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b that the library cacophony published.
struct Vector : ::testing::Test {
  const Bytes prologue = from_hex("4a6f686e2047616c74");
  const SecretKey psk = key_from_hex("54686973206973206d7920417573747269616e20706572737065637469766521");
  NoiseHandshake initiator{psk.span(), prologue,
                           key_from_hex("893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a")};
  NoiseHandshake responder{psk.span(), prologue,
                           key_from_hex("bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b")};
  const Bytes first_payload = from_hex("4c756477696720766f6e204d69736573");
  const Bytes first = from_hex(
      "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944ed63df2f5a12aee1185ee9c50305f2ecf12421dcb53c047a"
      "6"
      "3b784cf7c54a105");
  const Bytes second_payload = from_hex("4d757272617920526f746862617264");
  const Bytes second = from_hex(
      "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f1448088430e0fe7d5c0c9b92f7478716c8852f1b4f389edb75e3ebe54"
      "6f"
      "afafd5b6f0f7");
  void agree() {
    Bytes out(first.size()), text(first_payload.size());
    initiator.write_first(first_payload, out);
    EXPECT_EQ(out, first);
    ASSERT_TRUE(responder.read_first(first, text));
    EXPECT_EQ(text, first_payload);
    out.resize(second.size()), text.resize(second_payload.size());
    ASSERT_TRUE(responder.write_second(second_payload, out));
    EXPECT_EQ(out, second);
    ASSERT_TRUE(initiator.read_second(second, text));
    EXPECT_EQ(text, second_payload);
  }
};

TEST_F(Vector, IsMetByteForByte) { agree(); }

// Its next messages: the keys of both directions, nonces and tags.
TEST_F(Vector, AndSoAreTheKeysOfTheSession) {
  agree();
  const auto at_initiator = initiator.split(), at_responder = responder.split();
  EXPECT_EQ(at_initiator.to_responder.bytes, at_responder.to_responder.bytes);
  EXPECT_EQ(at_initiator.to_initiator.bytes, at_responder.to_initiator.bytes);
  const SealCipher forth(SealAlgorithm::kChaCha20Poly1305, at_initiator.to_responder);
  const SealCipher back(SealAlgorithm::kChaCha20Poly1305, at_initiator.to_initiator);
  const auto sealed = [](const SealCipher& cipher, std::uint64_t counter, std::string_view text) {
    Bytes datagram = from_hex(text);
    datagram.resize(datagram.size() + SealCipher::kTagBytes);
    cipher.seal(SealMode::kSealed, counter, 0, datagram);
    return datagram;
  };
  EXPECT_EQ(sealed(forth, 0, "462e20412e20486179656b"),
            from_hex("0fe04b26dcfbb69f8a6a94c61f1a26ef88769218d32f5d17c068a6"));
  EXPECT_EQ(sealed(back, 0, "4361726c204d656e676572"),
            from_hex("2239e0c540c01f09eb1f4cc5258fd5acfefff18a5a3773f21b7bfe"));
  EXPECT_EQ(sealed(forth, 1, "4a65616e2d426170746973746520536179"),
            from_hex("f216cb03d30fb8af1e561fe02a07552d09b416e27a75e62c77d193718b0bdaae9f"));
}

TEST_F(Vector, AnyOtherBitIsRefused) {
  Bytes text(first_payload.size());
  for (std::size_t bit = 0; bit < 8 * first.size(); ++bit) {
    Bytes changed = first;
    changed[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    NoiseHandshake fresh = responder;
    EXPECT_FALSE(fresh.read_first(changed, text)) << "bit " << bit;
  }
}

TEST_F(Vector, PrologueAndKeyMustBeTheSame) {
  Bytes text(first_payload.size());
  SecretKey other = psk;
  other.bytes[31] ^= std::byte{1};
  EXPECT_FALSE(NoiseHandshake(other.span(), prologue, psk).read_first(first, text));
  EXPECT_FALSE(NoiseHandshake(psk.span(), from_hex("4a"), psk).read_first(first, text));
  EXPECT_FALSE(NoiseHandshake(psk.span(), prologue, psk).read_first(std::span(first).first(63), text));
}

// Public keys of low order would make the secret known to everybody.
TEST_F(Vector, APublicKeyOfZerosIsRefused) {
  Bytes out(first.size()), text;
  initiator.write_first(first_payload, out);
  Bytes zeros(NoiseHandshake::kOverhead);
  EXPECT_FALSE(initiator.read_second(zeros, text));
}

}  // namespace
}  // namespace fibocast
