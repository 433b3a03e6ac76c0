// The sending half of UdpTransport: which frames leave together, and from which socket.
#include <cerrno>
#include <utility>

#include "transport/datagram_calls.h"
#include "transport/monotonic_now.h"
#include "transport/udp_transport.h"

namespace fibocast {
namespace {

constexpr unsigned kWorthASocket = 16;  // frames to one peer on loopback: there will be more

}  // namespace

// What was gathered for the same peer goes first, or with it.
bool UdpTransport::send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  send_fan_outs([&](NodeId peer, std::span<const std::byte> frame) { hold_or_send(peer, frame, {}); });
  if (pair_.is_for(to) && head.size() + payload.size() >= kLeastSharedPayload) return send_pair(to, head, payload);
  send_held();
  return send_alone(to, head, payload);
}

bool UdpTransport::gather(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  if (!fan_out_) return hold_or_send(to, head, payload);
  if (!fan_out_->has_room(to, head, payload)) flush();
  return fan_out_->gather(to, head, payload) || hold_or_send(to, head, payload);
}

void UdpTransport::flush() {
  send_fan_outs([this](NodeId to, std::span<const std::byte> frame) { send_alone(to, frame, {}); });
  send_held();
}

// One frame is held at most, the last of all.
bool UdpTransport::hold_or_send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  send_held();
  return (takes_pairs(to) && pair_.hold(to, head, payload)) || send_alone(to, head, payload);
}

void UdpTransport::send_held() {
  if (pair_.is_empty()) return;
  send_alone(pair_.to(), pair_.small(), {});
  pair_.forget();
}

bool UdpTransport::send_pair(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  const auto pieces = pair_.with(*self_, head, payload);
  Peer& peer = peers_[to];
  if (!pieces || !peer.connected || !peer.connected->send(pieces->head, pieces->payload)) {
    send_held();
    return send_alone(to, head, payload);
  }
  ++counters_.pairs;
  counters_.frames_sent += 2;
  counters_.bytes_sent += pieces->head.size() + pieces->payload.size();
  pair_.forget();
  return true;
}

template <class SendAlone>
void UdpTransport::send_fan_outs(SendAlone send_alone) {
  if (!fan_out_ || fan_out_->is_idle() || !socket_.is_open()) return;
  const FanOut::Sent sent = fan_out_->flush(monotonic_now, send_alone);
  counters_.fan_outs += sent.datagrams;
  counters_.frames_sent += sent.frames;
  counters_.bytes_sent += sent.bytes;
  counters_.send_errors += sent.lost;
}

bool UdpTransport::send_alone(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  if (to >= peers_.size() || peers_[to].endpoint.port() == 0 || !socket_.is_open()) {
    ++counters_.send_errors;
    return true;
  }
  Peer& peer = peers_[to];
  if (!send_connected(peer, head, payload)) return send_from_own_port(peer, head, payload);
  ++counters_.frames_sent;
  counters_.bytes_sent += head.size() + payload.size();
  return true;
}

bool UdpTransport::send_from_own_port(Peer& to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  ssize_t sent = send_datagram(to, head, payload);
  // The error of an earlier datagram is reported here instead of sending this one.
  if (sent < 0 && errno == ECONNREFUSED) sent = send_datagram(to, head, payload);
  if (sent >= 0) {
    ++counters_.frames_sent;
    counters_.bytes_sent += static_cast<std::uint64_t>(sent);
    return true;
  }
  ++counters_.send_errors;
  if (errno != EAGAIN) return true;
  to.blocked = true;
  wait_writable();
  return false;
}

// False: not sent. The socket of all peers tries it, and learns of a refusal.
bool UdpTransport::send_connected(Peer& to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  if (!to.connected && ++to.sent >= kWorthASocket) connect(to);
  if (!to.connected) return false;
  if (to.connected->send(head, payload)) return true;
  disconnect(to);
  return false;
}

void UdpTransport::connect(Peer& to) {
  to.sent = 0;
  if (connected_ == kMostConnectedPeers || !to.endpoint.address().is_loopback()) return;
  to.connected = ConnectedSender::to(to.endpoint, settings_.socket_buffer_bytes);
  if (!to.connected) return;
  ++connected_;
  if (self_) ask_whether_it_takes_pairs(to);
}

// Who knows nothing of them, or does not get this, gets each frame alone.
void UdpTransport::ask_whether_it_takes_pairs(Peer& peer) {
  send_from_own_port(peer, fan_out::encode(fan_out::Head{.from = *self_, .token = token_, .asks = true}), {});
}

void UdpTransport::disconnect(Peer& peer) {
  if (peer.connected) --connected_;
  peer.connected.reset();
  peer.takes_pairs = false;
}

ssize_t UdpTransport::send_datagram(Peer& to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  const auto address_bytes = static_cast<socklen_t>(to.endpoint.size());
  return datagram_calls::send_pieces(socket_.native_handle(), head, payload, to.endpoint.data(), address_bytes);
}

}  // namespace fibocast
