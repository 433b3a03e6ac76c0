#include "transport/seal/key_ring.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

#include "transport/little_endian.h"

namespace fibocast {
namespace {

constexpr std::string_view kHead = "# fibocast keys: whoever has them is in the cluster\n";
constexpr std::size_t kDigits = 2 * kKeyBytes;
constexpr std::size_t kLongestText = 16 * 1024;

// BLAKE2b with the cluster key as key: each purpose has its own.
void derive(std::span<const std::byte, kKeyBytes> key, std::string_view purpose, std::span<std::byte> out) {
  crypto_generichash(raw(out), out.size(), reinterpret_cast<const std::uint8_t*>(purpose.data()), purpose.size(),
                     raw(key), key.size());
}

std::string_view cut_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  line = line.substr(0, line.find('#'));
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t')) line.remove_suffix(1);
  return line;
}

std::optional<SecretKey> key_of_digits(std::string_view digits) {
  SecretKey key;
  std::size_t bytes = 0;
  if (digits.size() != kDigits ||
      sodium_hex2bin(key.raw(), kKeyBytes, digits.data(), digits.size(), nullptr, &bytes, nullptr) != 0 ||
      bytes != kKeyBytes)
    return {};
  return key;
}

void append_line(std::string_view word, const ClusterKey& key, std::string& out) {
  char digits[kDigits + 1];
  sodium_bin2hex(digits, sizeof digits, raw(key.key()), kKeyBytes);
  out.append(word).append(digits).append("\n");
  sodium_memzero(digits, sizeof digits);
}

}  // namespace

std::string key_id_text(KeyId id) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", id);
  return text;
}

ClusterKey::ClusterKey(std::span<const std::byte, kKeyBytes> key) {
  if (sodium_init() < 0) throw KeyError("libsodium cannot be used: it finds no source of random numbers");
  memory_.reset(static_cast<Memory*>(sodium_malloc(sizeof(Memory))));
  if (!memory_) throw std::bad_alloc();
  std::ranges::copy(key, memory_->key);
  derive(key, "fibocast 1: handshake messages", memory_->message_key);
  derive(key, "fibocast 1: discovery", memory_->discovery_key);
  std::byte id[crypto_generichash_BYTES_MIN];
  derive(key, "fibocast 1: name of the key", id);
  id_ = little_endian::get<KeyId>(id);
}

ClusterKey ClusterKey::generate() {
  if (sodium_init() < 0) throw KeyError("libsodium cannot be used: it finds no source of random numbers");
  SecretKey key;
  randombytes_buf(key.raw(), kKeyBytes);
  return ClusterKey(key.span());
}

KeyRing::KeyRing(ClusterKey primary) { keys_.push_back(std::move(primary)); }

KeyRing KeyRing::parse(std::string_view text) {
  KeyRing ring;
  if (text.size() > kLongestText) throw KeyError("it is longer than any key file");
  bool has_primary = false;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = cut_line(text);
    if (line.empty()) continue;
    const std::string where = "line " + std::to_string(number);
    const std::size_t space = line.find(' ');
    const std::string_view word = line.substr(0, space);
    const auto key = key_of_digits(space == std::string_view::npos ? "" : line.substr(space + 1));
    if ((word != "primary" && word != "accepted") || !key)
      throw KeyError(where + " is not 'primary' or 'accepted', a space and 64 hexadecimal digits");
    if (word == "primary" && std::exchange(has_primary, true)) throw KeyError(where + " has a second primary key");
    ring.accept(ClusterKey(key->span()));
    if (word == "primary") ring.make_primary(ring.keys_.back().id());
  }
  if (!has_primary) throw KeyError("it has no primary key");
  return ring;
}

std::string KeyRing::print() const {
  std::string text;
  text.reserve(kHead.size() + keys_.size() * (kDigits + 16));  // no copies left behind by growing
  text.append(kHead);
  for (const ClusterKey& key : keys_) append_line(&key == &keys_.front() ? "primary " : "accepted ", key, text);
  return text;
}

const ClusterKey* KeyRing::find(KeyId id) const {
  const auto found = std::ranges::find(keys_, id, &ClusterKey::id);
  return found == keys_.end() ? nullptr : &*found;
}

std::string KeyRing::text_of_ids() const {
  std::string text = key_id_text(primary().id());
  for (std::size_t i = 1; i < keys_.size(); ++i)
    text += (i == 1 ? ", also accepted " : ", ") + key_id_text(keys_[i].id());
  return text;
}

void KeyRing::accept(ClusterKey key) {
  if (find(key.id())) throw KeyError("the key " + key_id_text(key.id()) + " is there already");
  if (keys_.size() == kMost) throw KeyError("more than " + std::to_string(kMost) + " keys");
  keys_.push_back(std::move(key));
}

void KeyRing::make_primary(KeyId id) {
  const auto found = std::ranges::find(keys_, id, &ClusterKey::id);
  if (found == keys_.end()) throw KeyError("there is no key " + key_id_text(id));
  std::rotate(keys_.begin(), found, found + 1);
}

void KeyRing::drop_others() { keys_.erase(keys_.begin() + 1, keys_.end()); }

KeyRing KeyRing::copy() const {
  KeyRing ring;
  for (const ClusterKey& key : keys_) ring.keys_.push_back(key.copy());
  return ring;
}

}  // namespace fibocast
