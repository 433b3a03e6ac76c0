// Sealing of all frames between one node and its peers: agrees with each peer on a session, seals what goes out, opens
// what comes in, and renews sessions before they are old. Stands between the node's channels and the socket.
//
// A session is begun by whoever has something to send. The responder uses it only when a frame of it has come, so a
// first message that is replayed sets up nothing and disturbs nothing. Sessions end after kOldSession, after 2^31
// frames, or with their key; the former one is still read until the next begins, so nothing is lost meanwhile.
//
// Nothing is answered, and no memory taken, before a message has proved that its sender has the cluster key.
//
// Pure: time, random bytes and the datagrams come from the host. No clock of its own: repetitions of a lost first
// message leave with the frames that the channel above repeats. One thread. No heap allocation per frame.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/frame.h"
#include "transport/seal/key_ring.h"
#include "transport/seal/replay_window.h"
#include "transport/seal/seal_counters.h"
#include "transport/seal/seal_messages.h"

namespace fibocast {

struct SealSettings {
  NodeId self = 0;
  std::uint32_t nodes = 0;
  std::uint64_t incarnation = 0;
  std::string cluster;
  SealMode mode = SealMode::kSealed;
  bool may_use_aes = true;
  // Of the first message; above all of former lives of this node: nanoseconds of the wall clock, say.
  std::uint64_t first_stamp = 1;
  std::size_t largest_frame = 0;  // bytes, before sealing
  Nanoseconds first_retry =
      100'000'000;  // of a first message that is not answered; each further one after twice as long
};

class Sealer {
 public:
  static constexpr Nanoseconds kOldSession = 3'600'000'000'000;
  static constexpr std::uint64_t kManyFrames = std::uint64_t{1} << 31;  // then a new session is begun
  static constexpr std::uint64_t kMostFrames = std::uint64_t{1} << 32;  // no frame is sealed beyond
  // Only the latest first message can be answered: who is further away than the longest retry is never reached.
  static constexpr Nanoseconds kLongestRetry = 8'000'000'000;
  static constexpr Nanoseconds kSilence = 1'000'000'000;     // a peer that owes an answer for so long has no session
  static constexpr Nanoseconds kLeastInterval = 10'000'000;  // between first messages of one peer

  enum class Refusal : std::uint8_t { kNotSealed, kUnknownKey, kOtherCluster, kOtherMode, kOldFirst };
  struct Host {
    std::function<void(NodeId to, std::span<const std::byte> datagram)> send;  // of its own: handshakes
    std::function<void(std::span<std::byte>)> random;
    // Something that an operator should hear of. `claimed`: who it says it is, not proved.
    std::function<void(Refusal why, NodeId claimed, KeyId key, const KeyRing& own)> on_refused;
  };

  Sealer(const SealSettings& settings, KeyRing ring, Host host);
  ~Sealer();

  // The datagram to be sent now, valid until the next call; empty: there is no session yet, the frame is kept (one per
  // peer) or lost, as a network may lose it.
  std::span<const std::byte> seal(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload,
                                  Nanoseconds now);
  // The same for a frame whose payload was sealed under `key`, and goes beside it. Precondition: session(to).
  std::span<const std::byte> seal_head(NodeId to, std::span<const std::byte> head, const SecretKey& key,
                                       Nanoseconds now);
  struct Opened {
    bool authentic = false;            // made by who has the key, now
    std::span<const std::byte> frame;  // empty: nothing for the node. Valid until the next call
    SealAlgorithm algorithm = SealAlgorithm::kChaCha20Poly1305;  // of its session
  };
  Opened open(std::span<const std::byte> datagram, Nanoseconds now);
  // What seal_head() made: `frame` is the head, then the key.
  Opened open_head(std::span<const std::byte> datagram, Nanoseconds now);
  // Something else that came with an opened frame was not sealed by who sealed that.
  void count_forged() { ++counters_.forged; }
  // The path to this peer broke: it may have forgotten the session, and has not got a first message that is not
  // answered.
  void doubt(NodeId peer);
  // Other keys from now on. Sessions under keys that are no more end; all others are renewed under the primary one.
  void set_keys(KeyRing ring, Nanoseconds now);
  void set_nodes(std::uint32_t nodes);

  const KeyRing& keys() const { return ring_; }
  const SealCounters& counters() const { return counters_; }
  // Of the session that frames to this peer leave under; nothing while there is none.
  struct SessionInfo {
    KeyId key = 0;
    SealAlgorithm algorithm = SealAlgorithm::kChaCha20Poly1305;
    std::uint64_t peer_incarnation = 0;
  };
  std::optional<SessionInfo> session(NodeId peer) const;
  std::size_t peers_known() const;                // memory was taken for so many
  std::size_t sessions_under_other_keys() const;  // than the primary one: to be renewed

 private:
  struct Session;
  struct Pending;
  struct Peer;
  Peer& reach(NodeId peer);
  Peer* find(NodeId peer) { return peer < peers_.size() ? peers_[peer].get() : nullptr; }
  std::uint32_t new_session_id(NodeId peer);
  bool should_renew(const Peer& peer, Nanoseconds now) const;
  void begin(NodeId to, Peer& peer, Nanoseconds now);
  void hold(Peer& peer, std::span<const std::byte> head, std::span<const std::byte> payload);
  void send_held(NodeId to, Peer& peer);
  std::span<const std::byte> seal_frame(Session& session, std::span<const std::byte> head,
                                        std::span<const std::byte> payload, seal::Kind kind = seal::Kind::kFrame);
  std::span<const std::byte> seal_now(NodeId to, Peer& peer, std::span<const std::byte> head,
                                      std::span<const std::byte> payload, seal::Kind kind, Nanoseconds now);
  Opened open_first(std::span<const std::byte> message, Nanoseconds now);
  Opened take_first(NodeId from, const seal::FirstPayload& first, NoiseHandshake& noise, const ClusterKey& key,
                    Nanoseconds now);
  Opened open_answer(std::span<const std::byte> message, Nanoseconds now);
  Opened open_frame(std::span<const std::byte> datagram, Nanoseconds now);
  Opened take_frame(NodeId from, Peer& peer, Session& session, std::span<const std::byte> text);
  void use(Peer& peer, std::unique_ptr<Session> session);
  Opened refuse(std::uint64_t& counter) { return ++counter, Opened{}; }
  Opened refuse(std::uint64_t& counter, Refusal why, NodeId claimed, KeyId key);
  SecretKey random_key();

  SealSettings settings_;
  KeyRing ring_;
  Host host_;
  std::array<std::byte, 32> cluster_;
  std::uint64_t stamp_;
  SealCounters counters_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank; null: nothing was sent to it and nothing proved by it
  std::vector<std::byte> out_, in_;
};

}  // namespace fibocast
