#include "transport/seal/seal_messages.h"

#include <algorithm>
#include <cstring>

#include "transport/little_endian.h"

namespace fibocast::seal {
namespace {

using little_endian::get;
using little_endian::put;

constexpr std::size_t kLeastBytes = 8;

std::array<std::byte, kCodeBytes> code_of(const ClusterKey& key, std::span<const std::byte> text) {
  std::array<std::byte, kCodeBytes> code;
  crypto_generichash(raw(std::span(code)), kCodeBytes, raw(text), text.size(), raw(key.message_key()), kKeyBytes);
  return code;
}

}  // namespace

std::optional<Kind> kind_of(std::span<const std::byte> datagram) {
  if (datagram.size() < kLeastBytes || get<std::uint16_t>(datagram.data()) != kMagic) return {};
  const auto kind = get<std::uint8_t>(datagram.data() + 3);
  if (get<std::uint8_t>(datagram.data() + 2) != kVersion || kind < 1 || kind > static_cast<std::uint8_t>(Kind::kHead))
    return {};
  return static_cast<Kind>(kind);
}

void put_kind(Kind kind, std::byte* at) {
  put(at, kMagic);
  put(at + 2, kVersion);
  put(at + 3, static_cast<std::uint8_t>(kind));
}

std::array<std::byte, FirstPayload::kBytes> encode(const FirstPayload& payload) {
  std::array<std::byte, FirstPayload::kBytes> out{};
  put(out.data(), payload.stamp);
  put(out.data() + 8, payload.incarnation);
  put(out.data() + 16, payload.session);
  put(out.data() + 20, payload.algorithms);
  put(out.data() + 21, static_cast<std::uint8_t>(payload.mode));
  return out;
}

std::array<std::byte, AnswerPayload::kBytes> encode(const AnswerPayload& payload) {
  std::array<std::byte, AnswerPayload::kBytes> out{};
  put(out.data(), payload.incarnation);
  put(out.data() + 8, payload.session);
  put(out.data() + 12, static_cast<std::uint8_t>(payload.algorithm));
  return out;
}

std::optional<FirstPayload> decode_first(std::span<const std::byte, FirstPayload::kBytes> bytes) {
  FirstPayload out;
  out.stamp = get<std::uint64_t>(bytes.data());
  out.incarnation = get<std::uint64_t>(bytes.data() + 8);
  out.session = get<std::uint32_t>(bytes.data() + 16);
  out.algorithms = get<std::uint8_t>(bytes.data() + 20);
  const auto mode = get<std::uint8_t>(bytes.data() + 21);
  if (mode < 1 || mode > 2) return {};
  out.mode = static_cast<SealMode>(mode);
  return out;
}

std::optional<AnswerPayload> decode_answer(std::span<const std::byte, AnswerPayload::kBytes> bytes) {
  AnswerPayload out;
  out.incarnation = get<std::uint64_t>(bytes.data());
  out.session = get<std::uint32_t>(bytes.data() + 8);
  const auto algorithm = get<std::uint8_t>(bytes.data() + 12);
  if (algorithm < 1 || algorithm > 2) return {};
  out.algorithm = static_cast<SealAlgorithm>(algorithm);
  return out;
}

void put_code(const ClusterKey& key, std::span<std::byte> message) {
  const std::size_t end = message.size() - kCodeBytes;
  std::ranges::copy(code_of(key, message.first(end)), message.subspan(end).begin());
}

bool has_code(const ClusterKey& key, std::span<const std::byte> message) {
  const std::size_t end = message.size() - kCodeBytes;
  const auto code = code_of(key, message.first(end));
  return sodium_memcmp(code.data(), message.data() + end, kCodeBytes) == 0;
}

std::array<std::byte, 48> prologue(const std::array<std::byte, 32>& cluster, NodeId initiator, NodeId responder) {
  constexpr char kWhat[] = "fibocas";  // and its 0: 8 bytes
  static_assert(sizeof kWhat == 8);
  std::array<std::byte, 48> out{};
  std::memcpy(out.data(), kWhat, sizeof kWhat);
  std::ranges::copy(cluster, out.begin() + 8);
  put(out.data() + 40, initiator);
  put(out.data() + 44, responder);
  return out;
}

std::array<std::byte, 32> digest_of(std::string_view cluster_name) {
  std::array<std::byte, 32> out;
  crypto_generichash(raw(std::span(out)), out.size(), reinterpret_cast<const std::uint8_t*>(cluster_name.data()),
                     cluster_name.size(), nullptr, 0);
  return out;
}

}  // namespace fibocast::seal
