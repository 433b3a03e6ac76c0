#include "runtime/daemon/discovery_seal.h"

#include <algorithm>

#include "transport/little_endian.h"

namespace fibocast {
namespace {

//   0 magic (2), version (1), zero (1), key id (4); 8 nonce (24); 32 sealed: stamp (8), sender (8), text; tag (16)
constexpr std::uint16_t kMagic = 0xF15D;
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kNonceAt = 8, kSealedAt = 32, kTextAt = 16;
constexpr std::size_t kTag = crypto_aead_xchacha20poly1305_ietf_ABYTES;
static_assert(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES == kSealedAt - kNonceAt);

const std::uint8_t* raw_text(std::string_view text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }
std::uint8_t* raw_text(std::string& text) { return reinterpret_cast<std::uint8_t*>(text.data()); }
std::byte* bytes_of(std::string& text) { return reinterpret_cast<std::byte*>(text.data()); }
const std::byte* bytes_of(std::string_view text) { return reinterpret_cast<const std::byte*>(text.data()); }

}  // namespace

std::string DiscoverySeal::seal(std::string_view text, std::int64_t wall_clock_ns) {
  const ClusterKey& key = keys_.primary();
  last_stamp_ = std::max(last_stamp_ + 1, wall_clock_ns);
  std::string inner(kTextAt, '\0');
  little_endian::put(bytes_of(inner), static_cast<std::uint64_t>(last_stamp_));
  little_endian::put(bytes_of(inner) + 8, sender_);
  inner += text;
  std::string out(kSealedAt + inner.size() + kTag, '\0');
  little_endian::put(bytes_of(out), kMagic);
  little_endian::put(bytes_of(out) + 2, kVersion);
  little_endian::put(bytes_of(out) + 4, key.id());
  randombytes_buf(out.data() + kNonceAt, kSealedAt - kNonceAt);
  crypto_aead_xchacha20poly1305_ietf_encrypt(raw_text(out) + kSealedAt, nullptr, raw_text(inner), inner.size(),
                                             raw_text(out), kNonceAt, nullptr, raw_text(out) + kNonceAt,
                                             raw(key.discovery_key()));
  return out;
}

std::optional<std::string> DiscoverySeal::open(std::string_view datagram, std::int64_t wall_clock_ns) {
  if (datagram.starts_with("fibocast discovery"))
    complaint_ = "a daemon without a key looks for its cluster here; give all daemons the same security.key_file";
  if (datagram.size() < kSealedAt + kTextAt + kTag || little_endian::get<std::uint16_t>(bytes_of(datagram)) != kMagic ||
      little_endian::get<std::uint8_t>(bytes_of(datagram) + 2) != kVersion)
    return {};
  const auto id = little_endian::get<KeyId>(bytes_of(datagram) + 4);
  const ClusterKey* key = keys_.find(id);
  if (key == nullptr) {
    complaint_ = "a daemon with the key " + key_id_text(id) + " looks for its cluster here, where the key is " +
                 keys_.text_of_ids() + "; give all daemons the same security.key_file";
    return {};
  }
  const std::string_view sealed = datagram.substr(kSealedAt);
  std::string inner(sealed.size() - kTag, '\0');
  if (crypto_aead_xchacha20poly1305_ietf_decrypt(raw_text(inner), nullptr, nullptr, raw_text(sealed), sealed.size(),
                                                 raw_text(datagram), kNonceAt, raw_text(datagram) + kNonceAt,
                                                 raw(key->discovery_key())) != 0)
    return {};
  const auto stamp = static_cast<std::int64_t>(little_endian::get<std::uint64_t>(bytes_of(inner)));
  if (!is_new(little_endian::get<std::uint64_t>(bytes_of(inner) + 8), stamp, wall_clock_ns)) return {};
  return inner.substr(kTextAt);
}

bool DiscoverySeal::is_new(std::uint64_t sender, std::int64_t stamp, std::int64_t now) {
  if (stamp < now - kOldest || stamp > now + kOldest) {
    complaint_ =
        "what a daemon says to find its cluster is refused: its clock differs from this one by more than 10 "
        "minutes, or somebody replays; set the clocks";
    return false;
  }
  const auto known = newest_.find(sender);
  if (known != newest_.end()) return stamp > known->second && (known->second = stamp, true);
  if (newest_.size() >= kMostSenders)
    std::erase_if(newest_, [now](const auto& entry) { return entry.second < now - kOldest; });
  return newest_.size() < kMostSenders && newest_.emplace(sender, stamp).second;
}

}  // namespace fibocast
