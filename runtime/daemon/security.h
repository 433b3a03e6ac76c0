// How a daemon is protected, as its settings say: its keys, and what the operator is told.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "runtime/daemon/settings.h"
#include "runtime/wire/client.pb.h"
#include "transport/sealing_transport.h"

namespace fibocast {

// The keys of security.key_file; nothing without one. Throws SettingsError with one sentence, also if a daemon must not
// run with these settings.
std::optional<KeyRing> load_keys(const Settings& settings);
// For log and status: "sealed, key 5f1d0a33", or in capitals that anybody can take part.
std::string security_text(const Settings& settings, const KeyRing* keys);
// "seal_...": what sealing counts.
void add_seal_counters(const Sealer& sealer, client::NodeStatus& status);

// Says why datagrams are refused, each reason at most once a minute: strangers must not fill the log.
class RefusalLog {
 public:
  using Say = std::function<void(const std::string& sentence)>;
  RefusalLog(SecurityMode mode, Say say) : mode_(mode), say_(std::move(say)) {}
  void on_refused(Sealer::Refusal why, NodeId claimed, KeyId key, const KeyRing& keys);

 private:
  static constexpr std::size_t kReasons = 5;
  SecurityMode mode_;
  Say say_;
  std::array<std::chrono::steady_clock::time_point, kReasons> said_at_{};
};

}  // namespace fibocast
