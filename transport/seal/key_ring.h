// The keys of a cluster: one that this daemon begins sessions with, and others that it accepts besides, so that a key
// can be replaced while daemons run. Also the text of key files; key_file.h reads and writes those.
//
//   # fibocast keys: whoever has them is in the cluster
//   primary 5f1d...  (64 hexadecimal digits)
//   accepted 90c4...
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "transport/seal/secret.h"

namespace fibocast {

// Names a key without telling anything of it: 32 bits of its hash, 8 hexadecimal digits for people.
using KeyId = std::uint32_t;
std::string key_id_text(KeyId id);

// One sentence: what is wrong with the keys, and what to do. Never has a key in it.
struct KeyError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A cluster key and what is derived from it once, in locked memory that is left out of core dumps, wiped at the end.
class ClusterKey {
 public:
  explicit ClusterKey(std::span<const std::byte, kKeyBytes> key);
  static ClusterKey generate();

  KeyId id() const { return id_; }
  std::span<const std::byte, kKeyBytes> key() const { return std::span(memory_->key); }
  // Authenticates handshake messages before anything else is computed.
  std::span<const std::byte, kKeyBytes> message_key() const { return std::span(memory_->message_key); }
  // Seals what daemons say before they have sessions: discovery.
  std::span<const std::byte, kKeyBytes> discovery_key() const { return std::span(memory_->discovery_key); }
  ClusterKey copy() const { return ClusterKey(key()); }

 private:
  struct Memory {
    std::byte key[kKeyBytes];
    std::byte message_key[kKeyBytes];
    std::byte discovery_key[kKeyBytes];
  };
  struct Free {
    void operator()(Memory* memory) const { sodium_free(memory); }  // wipes
  };
  std::unique_ptr<Memory, Free> memory_;
  KeyId id_ = 0;
};

class KeyRing {
 public:
  static constexpr std::size_t kMost = 8;  // keys

  explicit KeyRing(ClusterKey primary);
  // Throws KeyError that names the line.
  static KeyRing parse(std::string_view text);
  // The text of a file with these keys; to be wiped by the caller.
  std::string print() const;

  const ClusterKey& primary() const { return keys_.front(); }
  std::span<const ClusterKey> keys() const { return keys_; }  // the primary first
  const ClusterKey* find(KeyId id) const;
  std::string text_of_ids() const;  // for people: "5f1d0a33, also accepted 90c41b02"

  // Throw KeyError: the ring is full, or has no such key.
  void accept(ClusterKey key);
  void make_primary(KeyId id);
  void drop_others();  // only the primary remains
  KeyRing copy() const;

 private:
  KeyRing() = default;
  std::vector<ClusterKey> keys_;
};

}  // namespace fibocast
