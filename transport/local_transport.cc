#include "transport/local_transport.h"

#include <sys/socket.h>
#include <unistd.h>

#include <bit>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "transport/close_on_exec.h"
#include "transport/frame.h"
#include "transport/monotonic_now.h"
#include "transport/tcp_transport.h"
#include "transport/udp_transport.h"

namespace fibocast {
namespace {

constexpr Nanoseconds kLookAgain = 1'000'000'000;  // for the inbox of a peer that has none
constexpr Nanoseconds kReadsWithin = 10'000'000;   // what is not read for so long: does its reader live?
constexpr Nanoseconds kHeldUp = 500'000'000;       // ... and after so long the other transport is tried instead
constexpr unsigned kPollsOfInner = 8;              // polls of the memory for one of the other transport
constexpr unsigned kMostFavoured = 16;             // frames of one ring before the others are looked at
constexpr unsigned kBellBatch = 64;                // frames taken per wake-up
constexpr std::size_t kHeldBytes = 1 << 20;        // in flight to a peer: most of it lies in our own memory
constexpr std::size_t kByReference = 1024;         // bytes of a payload from which on that is cheaper

}  // namespace

LocalTransport::LocalTransport(boost::asio::io_context& io, Transport& inner, const LocalSettings& settings)
    : io_(io),
      inner_(inner),
      settings_(settings),
      inbox_(SharedInbox::create(settings.folder, settings.name, settings.incarnation, settings.peers)),
      area_(inbox_.make_payload_area()),
      bell_(io) {
  fetched_.resize(kLoopbackPayload);
  bell_.open();
  close_on_exec(bell_.native_handle());
  bell_.bind({inbox_.bell()});
  bell_.non_blocking(true);
}

LocalTransport::~LocalTransport() = default;

void LocalTransport::set_peer(NodeId id, std::string name) {
  if (id >= peers_.size()) peers_.resize(id + 1);
  Peer& peer = peers_[id];
  if (peer.name == name) return;
  if (peer.inbox) detach(id, peer, false);
  peer.name = std::move(name);
  peer.not_before = 0;
}

void LocalTransport::start(Handlers handlers) {
  handlers_ = handlers;
  inner_.start(std::move(handlers));
  wait_for_bell();
  rest();
}

void LocalTransport::stop() {
  stopped_ = true;
  inbox_.control().closed.store(1);
  boost::system::error_code ignored;
  bell_.close(ignored);
  inner_.stop();
}

std::size_t LocalTransport::max_frame(NodeId to) const {
  const std::size_t outside = inner_.max_frame(to);
  if (to >= peers_.size() || !peers_[to].inbox) return outside;
  // By reference any size fits; a payload that lies elsewhere must fit the ring, or the way outside, and what is sent
  // again when the peer is lost from sight every way outside.
  const std::size_t copied = shared_ring::largest_frame(peers_[to].inbox->ring_bytes());
  return std::min(kMaxHeadBytes + kTcpPayload, std::max(copied, outside));
}

std::size_t LocalTransport::held_bytes(NodeId to) const {
  return to < peers_.size() && peers_[to].inbox ? kHeldBytes : 0;
}

// ---- sending

shared_ring::Writer LocalTransport::writer(Peer& peer) {
  return {peer.inbox->control().ring[peer.ring], peer.inbox->ring(peer.ring)};
}

bool LocalTransport::send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  Peer* peer = known(to);
  if (peer == nullptr || stopped_ || !(peer->inbox || attach(to, *peer))) return inner_.send(to, head, payload);
  if (detach_unless_it_reads(to, *peer)) return inner_.send(to, head, payload);
  return push(to, *peer, head, payload);
}

bool LocalTransport::attach(NodeId id, Peer& peer) {
  const Nanoseconds now = monotonic_now();
  if (now < peer.not_before || id == settings_.self) return false;
  peer.not_before = now + kLookAgain;
  auto inbox = SharedInbox::open(settings_.folder, peer.name);
  if (!inbox) return false;
  const auto ring = inbox->claim(settings_.self, settings_.incarnation);
  if (!ring) {
    forget_writer(id);
    return false;
  }
  peer.inbox = std::make_shared<SharedInbox>(std::move(*inbox));
  peer.ring = *ring, peer.not_read_since = 0;
  ++sharing_;
  return true;
}

// The frames go through the other transport from now on, those in the ring are lost. Evidence only: what comes of it is
// done outside of the node's call that led here.
void LocalTransport::detach(NodeId id, Peer& peer, bool refused) {
  const bool blocked = std::exchange(peer.blocked, false);
  blocked_ -= blocked;
  --sharing_;
  ++counters_.resets;
  peer.inbox.reset();
  peer.not_before = 0;
  forget_writer(id);
  later([this, id, blocked, refused] {
    if (blocked && handlers_.on_writable) handlers_.on_writable(id);
    if (refused && handlers_.on_refused) handlers_.on_refused(id);
  });
}

void LocalTransport::later(std::function<void()> what) {
  boost::asio::post(io_, [this, alive = std::weak_ptr(alive_), what = std::move(what)] {
    if (!alive.expired() && !stopped_) what();
  });
}

bool LocalTransport::detach_unless_it_reads(NodeId id, Peer& peer) {
  const Reader reader = look_at(peer);
  if (reader == Reader::kReads) return false;
  detach(id, peer, reader == Reader::kGone);
  peer.not_before = monotonic_now() + kLookAgain;
  return true;
}

// Who was killed while it was awake cannot say so: what is not read for a while is a reason to try its bell.
LocalTransport::Reader LocalTransport::look_at(Peer& peer) {
  shared_ring::Writer ring = writer(peer);
  if (peer.inbox->control().closed.load(std::memory_order_relaxed) != 0) return Reader::kGone;
  if (ring.control().writer.load(std::memory_order_relaxed) != settings_.incarnation) return Reader::kHeldUp;
  if (ring.is_empty() || ring.read() != peer.seen_read) {
    peer.seen_read = ring.read(), peer.not_read_since = 0;
    return Reader::kReads;
  }
  const Nanoseconds now = monotonic_now();
  if (peer.not_read_since == 0) peer.not_read_since = now, peer.bell_at = now + kReadsWithin;
  if (now >= peer.not_read_since + kHeldUp) return Reader::kHeldUp;
  if (now < peer.bell_at) return Reader::kReads;
  peer.bell_at = now + kReadsWithin;
  return ring_bell(peer) ? Reader::kReads : Reader::kGone;
}

bool LocalTransport::push(NodeId id, Peer& peer, std::span<const std::byte> head, std::span<const std::byte> payload) {
  shared_ring::Writer ring = writer(peer);
  const auto reference = payload.size() >= kByReference ? area_.refer_to(payload) : std::nullopt;
  const auto carried = reference ? std::as_bytes(std::span(&*reference, 1)) : payload;
  if (head.size() + carried.size() > shared_ring::largest_frame(peer.inbox->ring_bytes()))
    return inner_.send(id, head, payload);
  const bool pushed = ring.push(head, carried, reference.has_value());
  if (pushed) {
    ++counters_.frames_sent, counters_.bytes_sent += head.size() + payload.size();
    peer.inbox->control().written.fetch_or(1ull << peer.ring);
    if (!wake(peer)) {
      detach(id, peer, true);
      return inner_.send(id, head, payload);
    }
  } else {
    ++counters_.queue_drops;
  }
  if (pushed && ring.has_room()) return true;
  ring.control().writer_waits.store(1);
  if (ring.has_room() && ring.control().writer_waits.exchange(0) != 0) return true;
  if (!std::exchange(peer.blocked, true)) ++blocked_;
  return false;
}

// If it sleeps. After what it is to see has been written: it said that it sleeps before it looked a last time. False:
// nobody is there.
bool LocalTransport::wake(Peer& peer) {
  std::atomic<std::uint32_t>& asleep = peer.inbox->control().asleep;
  return asleep.load() == 0 || asleep.exchange(0) == 0 || ring_bell(peer);
}

// False: nobody is there to hear it.
bool LocalTransport::ring_bell(const Peer& peer) {
  ++bells_;
  return peer.inbox->ring_bell();
}

// ---- receiving

bool LocalTransport::poll() {
  if (poll_memory()) return true;
  if (sharing_ > 0 && ++polls_ % kPollsOfInner != 0) return false;
  return inner_.can_poll() && inner_.poll();
}

// One ring after the other. Who waits for one peer's answers finds them without a look at the word that all peers write
// to: two turns less of a cache line from core to core.
bool LocalTransport::poll_memory() {
  InboxControl& control = inbox_.control();
  if (std::exchange(asleep_, false)) control.asleep.store(0, std::memory_order_relaxed);
  if (favourite_ < inbox_.rings() && ++favoured_ < kMostFavoured && take_from(favourite_)) return true;
  favoured_ = 0;
  if (control.written.load(std::memory_order_relaxed) != 0) unread_ |= control.written.exchange(0);
  if (blocked_ > 0) look_at_blocked();
  while (unread_ != 0) {
    const std::uint64_t turned = std::rotr(unread_, static_cast<int>(next_ring_));
    const std::uint32_t i = (next_ring_ + static_cast<std::uint32_t>(std::countr_zero(turned))) % kMaxLocalPeers;
    if (i < inbox_.rings() && take_from(i)) {
      favourite_ = next_ring_ == (i + 1) % kMaxLocalPeers ? i : kMaxLocalPeers;  // the last one came from there too
      next_ring_ = (i + 1) % kMaxLocalPeers;
      return true;
    }
    unread_ &= ~(1ull << i);
  }
  return false;
}

// The next frame of this ring. False: there is none.
bool LocalTransport::take_from(std::uint32_t i) {
  shared_ring::Reader ring(inbox_.control().ring[i], inbox_.ring(i));
  const auto frame = ring.front(counters_.malformed);
  if (!frame) return false;
  note_writer(i);
  if (ring.refers()) {
    if (!fetch(i, *frame)) ++counters_.malformed;
  } else {
    ++counters_.frames_received, counters_.bytes_received += frame->size();
    handlers_.on_frame(*frame);
  }
  if (ring.pop()) tell_writer(i);
  if (ring.is_empty()) unread_ &= ~(1ull << i);
  return true;
}

// Its next frame is taken for its first one.
void LocalTransport::forget_writer(NodeId id) {
  for (std::uint32_t i = 0; i < inbox_.rings(); ++i)
    if (inbox_.control().ring[i].writer_rank.load() == id + 1) writers_[i] = 0;
}

// Who begins to write to us lives, and has an inbox itself.
void LocalTransport::note_writer(std::uint32_t ring) {
  const RingControl& control = inbox_.control().ring[ring];
  const std::uint64_t writer = control.writer.load(std::memory_order_relaxed);
  if (writers_[ring] == writer) return;
  const NodeId id = control.writer_rank.load() - 1;
  if (Peer* peer = known(id)) {
    if (peer->inbox && peer->inbox->incarnation() != writer) detach(id, *peer, false);
    peer->not_before = 0;
  }
  writers_[ring] = writer;
}

bool LocalTransport::open_source(Peer& peer, std::uint64_t incarnation) {
  if (peer.source && peer.source->incarnation() == incarnation) return true;
  peer.source = peer.inbox;
  if (peer.source && peer.source->incarnation() == incarnation) return true;
  auto inbox = SharedInbox::open(settings_.folder, peer.name);
  if (!inbox || inbox->incarnation() != incarnation) return false;
  peer.source = std::make_shared<SharedInbox>(std::move(*inbox));
  return true;
}

// Takes the frame whose record ends with a reference to its payload. False: that is gone, the frame counts as lost on
// its way. It goes where it is wanted at once, so that nobody copies it again.
bool LocalTransport::fetch(std::uint32_t ring, std::span<const std::byte> record) {
  PayloadReference reference;
  Peer* peer = known(inbox_.control().ring[ring].writer_rank.load() - 1);
  if (peer == nullptr || record.size() <= sizeof reference || !open_source(*peer, writers_[ring])) return false;
  const auto head = record.first(record.size() - sizeof reference);
  std::memcpy(&reference, record.data() + head.size(), sizeof reference);
  if (reference.bytes > fetched_.size()) return false;
  std::byte* place = handlers_.place_of(head, reference.bytes);
  if (place == nullptr) place = fetched_.data();
  if (!peer->source->read(reference, place)) return false;
  ++counters_.frames_received, counters_.bytes_received += head.size() + reference.bytes;
  handlers_.on_parts(head, {place, reference.bytes});
  return true;
}

bool LocalTransport::rest() {
  if (stopped_) return true;
  InboxControl& control = inbox_.control();
  asleep_ = true;
  control.asleep.store(1);
  const bool has_room = blocked_ > 0 && look_at_blocked();
  return unread_ == 0 && control.written.load() == 0 && !has_room;
}

// True: one of them takes frames again.
bool LocalTransport::look_at_blocked() {
  bool any = false;
  for (NodeId id = 0; id < peers_.size(); ++id) {
    Peer& peer = peers_[id];
    if (!peer.blocked) continue;
    if (detach_unless_it_reads(id, peer)) {
      any = true;
    } else if (writer(peer).has_room()) {
      peer.blocked = false, --blocked_;
      any = true;
      writer(peer).control().writer_waits.store(0);
      if (handlers_.on_writable) handlers_.on_writable(id);
    }
  }
  return any;
}

// Its writer waits for room: awake it looks itself, else its bell wakes it.
void LocalTransport::tell_writer(std::uint32_t ring) {
  const NodeId id = inbox_.control().ring[ring].writer_rank.load() - 1;
  Peer* peer = known(id);
  if (peer == nullptr || (!peer->inbox && !attach(id, *peer))) return;
  if (!wake(*peer)) detach(id, *peer, true);
}

void LocalTransport::wait_for_bell() {
  bell_.async_wait(boost::asio::local::datagram_protocol::socket::wait_read,
                   [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
                     if (error || alive.expired() || stopped_) return;
                     on_bell();
                     if (!stopped_) wait_for_bell();
                   });
}

void LocalTransport::on_bell() {
  std::byte sound;
  recv(bell_.native_handle(), &sound, sizeof sound, MSG_DONTWAIT);  // what rings beside it, the next wait tells
  unsigned taken = 0;
  do
    while (taken < kBellBatch && !stopped_ && poll_memory()) ++taken;
  while (taken < kBellBatch && !rest());
  if (taken == kBellBatch) later([this] { on_bell(); });  // the other work of the io_context gets its turn
}

}  // namespace fibocast
