#include "runtime/daemon/security.h"

#include "runtime/daemon/key_file.h"
#include "runtime/daemon/settings_loader.h"

namespace fibocast {
namespace {

constexpr std::chrono::minutes kSilence{1};

std::string refusal_text(Sealer::Refusal why, NodeId claimed, KeyId key, const KeyRing& keys, SecurityMode mode) {
  const std::string who = "a datagram in the name of rank " + std::to_string(claimed) + " is refused: ";
  switch (why) {
    case Sealer::Refusal::kNotSealed:
      return who + "it is not sealed, so its daemon has no key; give all daemons the same security.key_file";
    case Sealer::Refusal::kUnknownKey:
      return who + "its key is " + key_id_text(key) + ", but this daemon has " + keys.text_of_ids() +
             "; give all daemons the same security.key_file";
    case Sealer::Refusal::kOtherCluster:
      return who +
             "it has the right key, but another cluster.name; give each cluster its own key, and all daemons of "
             "one the same name";
    case Sealer::Refusal::kOtherMode:
      return who + "its security.mode is not '" + (mode == SecurityMode::kIntegrity ? "integrity" : "sealed") +
             "' as here; make them equal";
    case Sealer::Refusal::kOldFirst:
      return who +
             "it begins a session with a message that is older than its last one; somebody replays, or its "
             "clock was set back: then it is heard when the clock has caught up";
  }
  return who;
}

}  // namespace

std::optional<KeyRing> load_keys(const Settings& settings) try {
  if (const auto mistake = find_security_mistake(settings)) throw SettingsError(mistake->key + " " + mistake->sentence);
  if (settings.security.key_file.empty()) return {};
  return read_key_file(settings.security.key_file);
} catch (const KeyError& error) {
  throw SettingsError(std::string("security.key_file: ") + error.what());
}

std::string security_text(const Settings& settings, const KeyRing* keys) {
  if (keys)
    return (settings.security.mode == SecurityMode::kIntegrity ? "authenticated but NOT ENCRYPTED, key "
                                                               : "sealed, key ") +
           keys->text_of_ids();
  if (settings.security.mode == SecurityMode::kInsecure)
    return "INSECURE: no key; WHOEVER REACHES " + settings.node.listen + " CAN READ ALL AND TAKE PART";
  return "no key: only this host can reach it";
}

void add_seal_counters(const Sealer& sealer, client::NodeStatus& status) {
  const SealCounters& counters = sealer.counters();
  auto& out = *status.mutable_counters();
  out["seal_sealed"] = counters.sealed;
  out["seal_opened"] = counters.opened;
  out["seal_sessions"] = counters.sessions;
  out["seal_under_other_keys"] = sealer.sessions_under_other_keys();
  out["seal_dropped"] = counters.dropped;
  out["seal_refused_not_sealed"] = counters.not_sealed;
  out["seal_refused_malformed"] = counters.malformed;
  out["seal_refused_unknown_key"] = counters.unknown_key;
  out["seal_refused_forged"] = counters.forged;
  out["seal_refused_other_cluster"] = counters.other_cluster;
  out["seal_refused_other_mode"] = counters.other_mode;
  out["seal_refused_old_first"] = counters.old_first;
  out["seal_refused_too_often"] = counters.too_often;
  out["seal_refused_unknown_session"] = counters.unknown_session;
  out["seal_refused_replayed"] = counters.replayed;
  out["seal_refused_misdirected"] = counters.misdirected;
}

void RefusalLog::on_refused(Sealer::Refusal why, NodeId claimed, KeyId key, const KeyRing& keys) {
  const auto now = std::chrono::steady_clock::now();
  auto& said_at = said_at_[static_cast<std::size_t>(why)];
  if (said_at != std::chrono::steady_clock::time_point{} && now - said_at < kSilence) return;
  said_at = now;
  say_(refusal_text(why, claimed, key, keys, mode_));
}

}  // namespace fibocast
