// The datagrams of sealing on the wire: the two messages of the handshake and the header of a sealed frame. Numbers are
// little-endian. All begin with magic (2 bytes, 0xF15E), version (1), kind (1).
//
//   first    4 from rank, 8 to rank, 12 key id, 16 Noise message (48 + 24), 88 code (16): 104 bytes
//   answer   4 session of the receiver, 8 Noise message (48 + 16), 72 code (16): 88 bytes, fewer than the first has
//   frame    4 session of the receiver, 8 counter (8), 16 text, tag (16)
//   head     as a frame; the text is a frame without its payload, then 32 bytes: the key of that (shared_payload.h)
//
// The code is keyed BLAKE2b under a key of the cluster's: what was not made by its members costs one hash.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/seal/key_ring.h"
#include "transport/seal/noise.h"
#include "transport/seal/seal_cipher.h"
#include "transport/words.h"

namespace fibocast::seal {

inline constexpr std::uint16_t kMagic = 0xF15E;
inline constexpr std::uint8_t kVersion = 1;
inline constexpr std::size_t kCodeBytes = 16;

enum class Kind : std::uint8_t { kFirst = 1, kAnswer = 2, kFrame = 3, kHead = 4 };

// Of a datagram that begins as one of ours does.
std::optional<Kind> kind_of(std::span<const std::byte> datagram);
void put_kind(Kind kind, std::byte* at);

// What the initiator says, sealed under the cluster key.
struct FirstPayload {
  static constexpr std::size_t kBytes = 24;
  std::uint64_t stamp = 0;        // larger than in all earlier first messages of this node
  std::uint64_t incarnation = 0;  // of the process
  std::uint32_t session = 0;      // to be written into what is sent to the initiator
  std::uint8_t algorithms = 0;    // bit 0: AES-256-GCM
  SealMode mode = SealMode::kSealed;
};
struct AnswerPayload {
  static constexpr std::size_t kBytes = 16;
  std::uint64_t incarnation = 0;
  std::uint32_t session = 0;
  SealAlgorithm algorithm = SealAlgorithm::kChaCha20Poly1305;
};
std::array<std::byte, FirstPayload::kBytes> encode(const FirstPayload& payload);
std::array<std::byte, AnswerPayload::kBytes> encode(const AnswerPayload& payload);
std::optional<FirstPayload> decode_first(std::span<const std::byte, FirstPayload::kBytes> bytes);
std::optional<AnswerPayload> decode_answer(std::span<const std::byte, AnswerPayload::kBytes> bytes);

struct FirstMessage {
  static constexpr std::size_t kNoiseAt = 16;
  static constexpr std::size_t kNoiseBytes = NoiseHandshake::kOverhead + FirstPayload::kBytes;
  static constexpr std::size_t kBytes = kNoiseAt + kNoiseBytes + kCodeBytes;
};
struct AnswerMessage {
  static constexpr std::size_t kNoiseAt = 8;
  static constexpr std::size_t kNoiseBytes = NoiseHandshake::kOverhead + AnswerPayload::kBytes;
  static constexpr std::size_t kBytes = kNoiseAt + kNoiseBytes + kCodeBytes;
};
static_assert(AnswerMessage::kBytes <= FirstMessage::kBytes);  // no amplification

inline constexpr std::size_t kHeaderBytes = 16;
inline constexpr std::size_t kFrameOverhead = kHeaderBytes + SealCipher::kTagBytes;

// Writes the code of a whole message, or compares it (in constant time).
void put_code(const ClusterKey& key, std::span<std::byte> message);
bool has_code(const ClusterKey& key, std::span<const std::byte> message);

// What both ends of a handshake must agree on besides the key: the cluster's name and the two ranks.
std::array<std::byte, 48> prologue(const std::array<std::byte, 32>& cluster, NodeId initiator, NodeId responder);
std::array<std::byte, 32> digest_of(std::string_view cluster_name);

}  // namespace fibocast::seal
