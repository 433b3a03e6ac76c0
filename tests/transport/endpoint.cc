#include "tests/transport/endpoint.h"

#include <algorithm>
#include <chrono>

namespace fibocast::test {
namespace {

// How much faster than the real one a channel's clock runs: so much sooner does it send again what was lost.
constexpr int kHurry = 10;

}  // namespace

Nanoseconds Endpoint::now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1) * kHurry;
}

Endpoint::Endpoint(boost::asio::io_context& io, std::unique_ptr<Transport> transport, NodeId self, NodeId nodes,
                   std::uint64_t incarnation)
    : io_(io), transport_(std::move(transport)) {
  const ChannelLimits limits;
  for (NodeId id = 0; id < nodes; ++id) {
    if (id == self) continue;
    auto peer = std::make_shared<Peer>(io_);
    ChannelSettings settings;
    settings.self = self;
    settings.peer = id;
    settings.incarnation = incarnation;
    settings.fragment_bytes = static_cast<std::uint32_t>(transport_->max_frame(id) - kMaxHeadBytes);
    // 40 % of what the kernel can hold, for all peers together (PROTOCOL 12).
    settings.bulk_window_bytes = transport_->receive_buffer_bytes(id) * 2 / 5 / nodes;
    peer->memory.resize(ReliableChannel::bytes_needed(limits) / sizeof(std::max_align_t) + 1);
    peer->channel = std::make_unique<ReliableChannel>(limits, settings, std::as_writable_bytes(std::span(peer->memory)),
                                                      ReadyFlag(peer->ready, 0));
    peers_[id] = peer;
  }
  Transport::Handlers handlers;
  handlers.on_frame = [this](std::span<const std::byte> bytes) { return on_frame(bytes); };
  handlers.on_writable = [this](NodeId id) { peers_.at(id)->blocked = false, service(id); };
  handlers.on_reset = [this](NodeId id) { channel(id).on_path_reset(now()), service(id); };
  transport_->start(std::move(handlers));
  for (auto& [id, peer] : peers_) {
    peer->channel->connect(now());
    service(id);
  }
}

Endpoint::~Endpoint() { transport_->stop(); }

bool Endpoint::on_frame(std::span<const std::byte> bytes) {
  const auto frame = decode_frame(bytes);
  if (!frame || !peers_.contains(frame->from)) return false;
  channel(frame->from).on_frame(*frame, now());
  service(frame->from);
  return true;
}

void Endpoint::service(NodeId id) {
  Peer& peer = *peers_.at(id);
  Delivery delivery;
  while (peer.channel->poll_delivery(delivery)) peer.traffic.take(delivery, *peer.channel);
  peer.traffic.pump(*peer.channel, now());
  transmit(peer, id);
  arm(peer, id);
}

void Endpoint::transmit(Peer& peer, NodeId id) {
  std::array<std::byte, kMaxHeadBytes> scratch;
  Transmit out;
  while (!peer.blocked && peer.channel->poll_transmit(now(), scratch, out)) {
    peer.blocked = !transport_->send(id, out.head, peer.traffic.bytes(out.payload));
  }
}

void Endpoint::arm(Peer& peer, NodeId id) {
  const Nanoseconds deadline = peer.blocked ? kNoDeadline : peer.channel->next_deadline();
  if (deadline == peer.armed_for) return;
  peer.armed_for = deadline;
  peer.timer.cancel();
  if (deadline == kNoDeadline) return;
  peer.timer.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline / kHurry)));
  peer.timer.async_wait([this, id, alive = std::weak_ptr(peers_.at(id))](const boost::system::error_code& error) {
    const auto p = alive.lock();
    if (error || !p) return;
    p->armed_for = kNoDeadline;
    p->channel->on_timer(now());
    service(id);
  });
}

bool Endpoint::done() const {
  return std::ranges::all_of(peers_, [](const auto& entry) {
    const Peer& p = *entry.second;
    return p.channel->state() == ChannelState::kConnected && p.traffic.all_handed_over() &&
           p.channel->all_acknowledged();
  });
}

std::string Endpoint::errors() const {
  std::string all;
  for (const auto& [id, peer] : peers_) {
    for (const auto& e : peer->traffic.errors) all += "from " + std::to_string(id) + ": " + e + "\n";
  }
  return all;
}

}  // namespace fibocast::test
