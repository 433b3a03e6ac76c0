#include "transport/seal/sealer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/little_endian.h"

namespace fibocast {
namespace {

constexpr std::uint8_t kHasAes = 1;
constexpr Nanoseconds kResponderPatience = 60'000'000'000;    // the initiator renews first
constexpr std::size_t kFromAt = 16, kToAt = 20, kTypeAt = 4;  // in the header of a frame

bool wants_answer(std::span<const std::byte> head) {
  const auto type = static_cast<FrameType>(head.size() > kTypeAt ? head[kTypeAt] : std::byte{});
  return type == FrameType::kHello || type == FrameType::kDataSmall || type == FrameType::kDataBulk;
}

NodeId peer_of(std::uint32_t session) { return session & 0xffff; }

}  // namespace

struct Sealer::Session {
  Session(SealAlgorithm which, const SecretKey& sends, const SecretKey& receives)
      : algorithm(which), out(which, sends), in(which, receives) {}
  SealAlgorithm algorithm;
  SealCipher out, in;
  std::uint64_t sent = 0;  // counter of the next frame
  ReplayWindow window;
  std::uint32_t own_id = 0, peer_id = 0;
  KeyId key = 0;
  std::uint64_t peer_incarnation = 0;
  Nanoseconds since = 0;
  bool initiator = false;
};

struct Sealer::Pending {
  NoiseHandshake noise;
  std::uint32_t own_id;
  KeyId key;
  Nanoseconds counts_until;  // that it was sent first
};

struct Sealer::Peer {
  std::unique_ptr<Session> current;   // frames leave under it
  std::unique_ptr<Session> previous;  // read only
  std::unique_ptr<Session> next;      // answered, not yet used by the initiator
  std::unique_ptr<Pending> pending;   // first message sent
  std::uint64_t newest_stamp = 0;
  Nanoseconds first_at = 0;           // when the newest first message of the peer came; 0: never
  Nanoseconds try_at = 0, retry = 0;  // 0: the first one
  Nanoseconds asked_at = 0;           // oldest frame that was not followed by any of the peer; 0: none
  bool doubted = false;               // the peer may have forgotten the session
  bool rekey = false;                 // there is another primary key
  std::array<std::byte, kMaxHeadBytes> held{};
  std::size_t held_bytes = 0;
};

Sealer::Sealer(const SealSettings& settings, KeyRing ring, Host host)
    : settings_(settings),
      ring_(std::move(ring)),
      host_(std::move(host)),
      cluster_(seal::digest_of(settings.cluster)),
      stamp_(settings.first_stamp),
      peers_(settings.nodes),
      out_(settings.largest_frame + seal::kFrameOverhead),
      in_(settings.largest_frame) {
  settings_.may_use_aes = settings.may_use_aes && AesGcm::is_available();
}

Sealer::~Sealer() = default;

Sealer::Peer& Sealer::reach(NodeId peer) {
  if (!peers_[peer]) peers_[peer] = std::make_unique<Peer>();
  return *peers_[peer];
}

SecretKey Sealer::random_key() {
  SecretKey key;
  host_.random(key.span());
  return key;
}

// The peer's rank and 16 random bits, which no other session of this peer has now.
std::uint32_t Sealer::new_session_id(NodeId peer) {
  const Peer& p = *peers_[peer];
  for (;;) {
    std::array<std::byte, 2> random;
    host_.random(random);
    const std::uint32_t id = std::uint32_t{little_endian::get<std::uint16_t>(random.data())} << 16 | peer;
    const auto has = [id](const auto& session) { return session && session->own_id == id; };
    if (!has(p.current) && !has(p.previous) && !has(p.next) && !has(p.pending)) return id;
  }
}

// -- out

bool Sealer::should_renew(const Peer& peer, Nanoseconds now) const {
  const Session& s = *peer.current;
  const Nanoseconds old = s.initiator ? kOldSession : kOldSession + kResponderPatience;
  return peer.doubted || peer.rekey || now - s.since >= old || s.sent >= kManyFrames ||
         (peer.asked_at != 0 && now - peer.asked_at >= kSilence);
}

std::span<const std::byte> Sealer::seal(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload,
                                        Nanoseconds now) {
  if (to >= peers_.size() || to == settings_.self || head.size() + payload.size() > settings_.largest_frame) {
    ++counters_.dropped;
    return {};
  }
  Peer& peer = reach(to);
  if (peer.current && peer.current->sent < kMostFrames)
    return seal_now(to, peer, head, payload, seal::Kind::kFrame, now);
  hold(peer, head, payload);
  // Who was answered just now will use that session.
  if (!peer.next || now - peer.next->since >= settings_.first_retry) begin(to, peer, now);
  return {};
}

std::span<const std::byte> Sealer::seal_head(NodeId to, std::span<const std::byte> head, const SecretKey& key,
                                             Nanoseconds now) {
  Peer& peer = reach(to);
  if (peer.current->sent < kMostFrames) return seal_now(to, peer, head, key.span(), seal::Kind::kHead, now);
  ++counters_.dropped;
  return {};
}

std::span<const std::byte> Sealer::seal_now(NodeId to, Peer& peer, std::span<const std::byte> head,
                                            std::span<const std::byte> payload, seal::Kind kind, Nanoseconds now) {
  if (peer.asked_at == 0 && wants_answer(head)) peer.asked_at = now;
  if (should_renew(peer, now)) begin(to, peer, now);
  return seal_frame(*peer.current, head, payload, kind);
}

void Sealer::hold(Peer& peer, std::span<const std::byte> head, std::span<const std::byte> payload) {
  if (peer.held_bytes > 0) ++counters_.dropped;
  peer.held_bytes = 0;
  if (head.size() + payload.size() > peer.held.size()) {
    ++counters_.dropped;
    return;
  }
  std::ranges::copy(head, peer.held.begin());
  std::ranges::copy(payload, peer.held.begin() + static_cast<std::ptrdiff_t>(head.size()));
  peer.held_bytes = head.size() + payload.size();
}

void Sealer::send_held(NodeId to, Peer& peer) {
  const auto frame = std::span<const std::byte>(peer.held).first(std::exchange(peer.held_bytes, 0));
  if (!frame.empty()) host_.send(to, seal_frame(*peer.current, frame, {}));
}

std::span<const std::byte> Sealer::seal_frame(Session& session, std::span<const std::byte> head,
                                              std::span<const std::byte> payload, seal::Kind kind) {
  std::byte* at = out_.data();
  seal::put_kind(kind, at);
  little_endian::put(at + 4, session.peer_id);
  const std::uint64_t counter = session.sent++;
  little_endian::put(at + 8, counter);
  at += seal::kHeaderBytes;
  if (!head.empty()) std::memcpy(at, head.data(), head.size());
  if (!payload.empty()) std::memcpy(at + head.size(), payload.data(), payload.size());
  const auto datagram = std::span(out_).first(seal::kFrameOverhead + head.size() + payload.size());
  session.out.seal(settings_.mode, counter, seal::kHeaderBytes, datagram);
  ++counters_.sealed;
  return datagram;
}

void Sealer::begin(NodeId to, Peer& peer, Nanoseconds now) {
  if (now < peer.try_at) return;
  peer.retry = std::clamp(2 * peer.retry, settings_.first_retry, kLongestRetry);
  peer.try_at = now + peer.retry;
  const ClusterKey& key = ring_.primary();
  const auto prologue = seal::prologue(cluster_, settings_.self, to);
  const std::uint32_t own_id = new_session_id(to);
  peer.pending = std::make_unique<Pending>(
      Pending{NoiseHandshake(key.key(), prologue, random_key()), own_id, key.id(), now + settings_.first_retry});
  seal::FirstPayload payload;
  payload.stamp = stamp_++;
  payload.incarnation = settings_.incarnation;
  payload.session = own_id;
  payload.algorithms = settings_.may_use_aes ? kHasAes : 0;
  payload.mode = settings_.mode;
  std::array<std::byte, seal::FirstMessage::kBytes> message;
  seal::put_kind(seal::Kind::kFirst, message.data());
  little_endian::put(message.data() + 4, settings_.self);
  little_endian::put(message.data() + 8, to);
  little_endian::put(message.data() + 12, key.id());
  peer.pending->noise.write_first(seal::encode(payload), std::span(message).subspan(seal::FirstMessage::kNoiseAt));
  seal::put_code(key, message);
  host_.send(to, message);
}

// -- in

Sealer::Opened Sealer::refuse(std::uint64_t& counter, Refusal why, NodeId claimed, KeyId key) {
  ++counter;
  if (host_.on_refused) host_.on_refused(why, claimed, key, ring_);
  return {};
}

Sealer::Opened Sealer::open(std::span<const std::byte> datagram, Nanoseconds now) {
  const auto kind = seal::kind_of(datagram);
  if (!kind) {
    const bool plain = datagram.size() >= kFrameHeaderBytes && decode_frame(datagram);
    if (!plain) return refuse(counters_.malformed);
    return refuse(counters_.not_sealed, Refusal::kNotSealed, decode_frame(datagram)->from, 0);
  }
  switch (*kind) {
    case seal::Kind::kFirst: return open_first(datagram, now);
    case seal::Kind::kAnswer: return open_answer(datagram, now);
    case seal::Kind::kFrame: return open_frame(datagram, now);
    case seal::Kind::kHead: break;
  }
  return refuse(counters_.malformed);  // without its payload
}

Sealer::Opened Sealer::open_head(std::span<const std::byte> datagram, Nanoseconds now) {
  if (seal::kind_of(datagram) != seal::Kind::kHead) return refuse(counters_.malformed);
  return open_frame(datagram, now);
}

Sealer::Opened Sealer::open_first(std::span<const std::byte> message, Nanoseconds now) {
  if (message.size() != seal::FirstMessage::kBytes) return refuse(counters_.malformed);
  const auto from = little_endian::get<NodeId>(message.data() + 4);
  const auto to = little_endian::get<NodeId>(message.data() + 8);
  const auto key_id = little_endian::get<KeyId>(message.data() + 12);
  if (to != settings_.self || from == settings_.self || from >= peers_.size()) return refuse(counters_.malformed);
  const ClusterKey* key = ring_.find(key_id);
  if (key == nullptr) return refuse(counters_.unknown_key, Refusal::kUnknownKey, from, key_id);
  if (!seal::has_code(*key, message)) return refuse(counters_.forged);
  NoiseHandshake noise(key->key(), seal::prologue(cluster_, from, to), random_key());
  std::array<std::byte, seal::FirstPayload::kBytes> payload;
  if (!noise.read_first(message.subspan(seal::FirstMessage::kNoiseAt, seal::FirstMessage::kNoiseBytes), payload))
    return refuse(counters_.other_cluster, Refusal::kOtherCluster, from, key_id);
  const auto first = seal::decode_first(payload);
  if (!first || peer_of(first->session) != settings_.self) return refuse(counters_.malformed);
  return take_first(from, *first, noise, *key, now);
}

// It was made by who has the key; not necessarily now.
Sealer::Opened Sealer::take_first(NodeId from, const seal::FirstPayload& first, NoiseHandshake& noise,
                                  const ClusterKey& key, Nanoseconds now) {
  if (first.mode != settings_.mode) return refuse(counters_.other_mode, Refusal::kOtherMode, from, key.id());
  Peer& peer = reach(from);
  if (first.stamp <= peer.newest_stamp) return refuse(counters_.old_first, Refusal::kOldFirst, from, key.id());
  if (peer.first_at != 0 && now - peer.first_at < kLeastInterval) return refuse(counters_.too_often);
  peer.newest_stamp = first.stamp;
  peer.first_at = now;
  // Both began at once: that of the lower rank counts.
  if (peer.pending && settings_.self < from && now < peer.pending->counts_until) return {true, {}};
  const bool aes = settings_.may_use_aes && (first.algorithms & kHasAes) != 0;
  seal::AnswerPayload payload;
  payload.incarnation = settings_.incarnation;
  payload.session = new_session_id(from);
  payload.algorithm = aes ? SealAlgorithm::kAes256Gcm : SealAlgorithm::kChaCha20Poly1305;
  std::array<std::byte, seal::AnswerMessage::kBytes> message;
  seal::put_kind(seal::Kind::kAnswer, message.data());
  little_endian::put(message.data() + 4, first.session);
  if (!noise.write_second(seal::encode(payload), std::span(message).subspan(seal::AnswerMessage::kNoiseAt)))
    return refuse(counters_.malformed);
  seal::put_code(key, message);
  const NoiseHandshake::Keys keys = noise.split();
  peer.next = std::make_unique<Session>(payload.algorithm, keys.to_initiator, keys.to_responder);
  peer.next->own_id = payload.session;
  peer.next->peer_id = first.session;
  peer.next->key = key.id();
  peer.next->peer_incarnation = first.incarnation;
  peer.next->since = now;
  host_.send(from, message);
  return {true, {}};
}

Sealer::Opened Sealer::open_answer(std::span<const std::byte> message, Nanoseconds now) {
  if (message.size() != seal::AnswerMessage::kBytes) return refuse(counters_.malformed);
  const auto own_id = little_endian::get<std::uint32_t>(message.data() + 4);
  const NodeId from = peer_of(own_id);
  Peer* peer = find(from);
  if (peer == nullptr || !peer->pending || peer->pending->own_id != own_id) return refuse(counters_.unknown_session);
  const ClusterKey* key = ring_.find(peer->pending->key);
  if (key == nullptr) return refuse(counters_.unknown_session);
  if (!seal::has_code(*key, message)) return refuse(counters_.forged);
  NoiseHandshake noise = peer->pending->noise;  // a forgery must not spoil it
  std::array<std::byte, seal::AnswerPayload::kBytes> bytes;
  if (!noise.read_second(message.subspan(seal::AnswerMessage::kNoiseAt, seal::AnswerMessage::kNoiseBytes), bytes))
    return refuse(counters_.forged);
  const auto answer = seal::decode_answer(bytes);
  const bool usable = answer && peer_of(answer->session) == settings_.self &&
                      (settings_.may_use_aes || answer->algorithm != SealAlgorithm::kAes256Gcm);
  if (!usable) return refuse(counters_.malformed);
  const NoiseHandshake::Keys keys = noise.split();
  auto session = std::make_unique<Session>(answer->algorithm, keys.to_responder, keys.to_initiator);
  session->own_id = own_id;
  session->peer_id = answer->session;
  session->key = key->id();
  session->peer_incarnation = answer->incarnation;
  session->since = now;
  session->initiator = true;
  use(*peer, std::move(session));
  host_.send(from, seal_frame(*peer->current, {}, {}));  // the peer may use it now
  send_held(from, *peer);
  return {true, {}};
}

void Sealer::use(Peer& peer, std::unique_ptr<Session> session) {
  peer.previous = std::move(peer.current);
  peer.current = std::move(session);
  peer.pending.reset();
  peer.retry = 0;
  peer.asked_at = 0;
  peer.doubted = false;
  peer.rekey = peer.rekey && peer.current->key != ring_.primary().id();
  ++counters_.sessions;
}

Sealer::Opened Sealer::open_frame(std::span<const std::byte> datagram, Nanoseconds now) {
  if (datagram.size() < seal::kFrameOverhead || datagram.size() > out_.size()) return refuse(counters_.malformed);
  const auto own_id = little_endian::get<std::uint32_t>(datagram.data() + 4);
  const NodeId from = peer_of(own_id);
  Peer* peer = find(from);
  if (peer == nullptr) return refuse(counters_.unknown_session);
  Session* session = nullptr;
  for (Session* s : {peer->current.get(), peer->next.get(), peer->previous.get()})
    if (s != nullptr && s->own_id == own_id) session = s;
  if (session == nullptr) return refuse(counters_.unknown_session);
  const auto counter = little_endian::get<std::uint64_t>(datagram.data() + 8);
  if (counter >= kMostFrames || !session->window.may_take(counter)) return refuse(counters_.replayed);
  const auto text = session->in.open(settings_.mode, counter, seal::kHeaderBytes, datagram, in_);
  if (!text) return refuse(counters_.forged);
  session->window.take(counter);
  peer->asked_at = 0;
  peer->doubted = false;
  if (session == peer->next.get()) {
    use(*peer, std::move(peer->next));
    peer->current->since = now;
  }
  return take_frame(from, *peer, *session, *text);
}

// `session` is one of the peer's, whatever it is called now.
Sealer::Opened Sealer::take_frame(NodeId from, Peer& peer, Session& session, std::span<const std::byte> text) {
  if (&session == peer.current.get()) send_held(from, peer);
  ++counters_.opened;
  if (text.empty()) return {true, {}};
  const bool right = text.size() >= kFrameHeaderBytes && little_endian::get<NodeId>(text.data() + kFromAt) == from &&
                     little_endian::get<NodeId>(text.data() + kToAt) == settings_.self;
  if (!right) {
    ++counters_.misdirected;
    return {true, {}};
  }
  return {true, text, session.algorithm};
}

// -- changes

void Sealer::doubt(NodeId peer) {
  Peer* p = find(peer);
  if (p == nullptr) return;
  p->doubted = true;
  if (p->pending) p->pending->counts_until = 0;
}

void Sealer::set_keys(KeyRing ring, Nanoseconds now) {
  ring_ = std::move(ring);
  for (NodeId to = 0; to < peers_.size(); ++to) {
    if (!peers_[to]) continue;
    Peer& peer = *peers_[to];
    for (auto* session : {&peer.current, &peer.previous, &peer.next})
      if (*session && ring_.find((*session)->key) == nullptr) session->reset();
    if (peer.pending && ring_.find(peer.pending->key) == nullptr) peer.pending.reset();
    if (!peer.current || peer.current->key == ring_.primary().id()) continue;
    peer.rekey = true;
    peer.retry = 0;
    peer.try_at = now;
    begin(to, peer, now);
  }
}

void Sealer::set_nodes(std::uint32_t nodes) {
  if (nodes > peers_.size()) peers_.resize(nodes);
}

std::optional<Sealer::SessionInfo> Sealer::session(NodeId peer) const {
  if (peer >= peers_.size() || !peers_[peer] || !peers_[peer]->current) return {};
  const Session& s = *peers_[peer]->current;
  return SessionInfo{s.key, s.algorithm, s.peer_incarnation};
}

std::size_t Sealer::sessions_under_other_keys() const {
  const KeyId primary = ring_.primary().id();
  return static_cast<std::size_t>(
      std::ranges::count_if(peers_, [&](const auto& p) { return p && p->current && p->current->key != primary; }));
}

std::size_t Sealer::peers_known() const {
  return static_cast<std::size_t>(std::ranges::count_if(peers_, [](const auto& p) { return p != nullptr; }));
}

}  // namespace fibocast
