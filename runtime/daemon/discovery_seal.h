// Seals what daemons say before they have sessions: each datagram by itself, under a key derived from the cluster's
// (XChaCha20-Poly1305, random nonces). A datagram that came before is refused by its stamp: the stamps of a process
// rise, and one that is older than kOldest, by the wall clocks of both, is never taken. No forward secrecy: these texts
// name addresses and ranks only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "transport/seal/key_ring.h"

namespace fibocast {

class DiscoverySeal {
 public:
  static constexpr std::int64_t kOldest = 600'000'000'000;  // ns; also how far clocks may differ
  static constexpr std::size_t kMostSenders = 8192;         // processes whose stamps are remembered

  // `sender`: random, of this process.
  DiscoverySeal(KeyRing keys, std::uint64_t sender) : keys_(std::move(keys)), sender_(sender) {}
  void set_keys(KeyRing keys) { keys_ = std::move(keys); }

  std::string seal(std::string_view text, std::int64_t wall_clock_ns);
  // Nothing if it is not authentic and new; then complaint() may say why.
  std::optional<std::string> open(std::string_view datagram, std::int64_t wall_clock_ns);
  // One sentence about the last datagram that was refused, if it is of use to an operator; once.
  std::string complaint() { return std::exchange(complaint_, {}); }

 private:
  bool is_new(std::uint64_t sender, std::int64_t stamp, std::int64_t now);

  KeyRing keys_;
  std::uint64_t sender_;
  std::int64_t last_stamp_ = 0;
  std::map<std::uint64_t, std::int64_t> newest_;  // stamp by sender
  std::string complaint_;
};

}  // namespace fibocast
