#include "runtime/daemon/relays.h"

#include <boost/asio/local/connect_pair.hpp>
#include <cstring>
#include <string>

namespace fibocast {
namespace {

constexpr std::uint64_t kCookie = std::uint64_t{1} << 63;  // no session's

// Relays of all daemons have different tags: the opener's rank, and its own count, which begins anywhere so that
// messages for one of a former life of the daemon are not taken for this one's.
std::uint64_t tag_of(NodeId opener, std::uint64_t number) {
  return Node::kFirstReservedTag | std::uint64_t{opener} << 32 | (number & 0xffff'ffff);
}

}  // namespace

Relays::Relays(boost::asio::io_context& io, NodeHost& host, NodeId self, Admit admit)
    : io_(io),
      host_(host),
      self_(self),
      admit_(std::move(admit)),
      refusals_(host, "rank " + std::to_string(self) + " has no room for one more client of another daemon; try it " +
                          "again, or use its own socket"),
      next_number_(static_cast<std::uint64_t>(monotonic_now()) & 0x3fff'ffff) {}

void Relays::start() {
  if (!listening_) listen();
}

void Relays::listen() {
  listening_ = !stopped_ && host_.node().receive_message(std::nullopt, kCookie, host_.now()) == Admission::kTaken;
}

bool Relays::open(Relay::Socket& socket, NodeId to, std::span<const std::byte> first) {
  const std::uint64_t tag = tag_of(self_, next_number_++);
  if (relays_.size() >= kMost || relays_.contains(tag | kRelayToOpener)) return false;
  const auto buffer = host_.node().reserve_buffer(sizeof tag, BufferFor::kHostsMessage);
  if (!buffer) return false;
  const PayloadRange range{*buffer, 0, sizeof tag};
  std::memcpy(host_.bytes_of(range).data(), &tag, sizeof tag);
  if (host_.node().send_message(to, kRelayOpenTag, range, host_.now()) != Admission::kTaken) {
    host_.node().release_buffer(*buffer);
    return false;
  }
  add(std::move(socket), {to, tag, tag | kRelayToOpener}, first);
  return true;
}

void Relays::add(Relay::Socket socket, const Relay::Ends& ends, std::span<const std::byte> first) {
  const auto relay = std::make_shared<Relay>(std::move(socket), host_, ends);
  relays_[ends.tag_in] = relay;
  relay->start(first);
}

// What is for no relay was for one that has ended, or was not taken.
bool Relays::on_message(const Event& event) {
  if (event.cookie != kCookie) return false;
  const auto found = relays_.find(event.tag);
  if (const auto opened = opened_relay(host_, event); opened && !take_opened(event.peer, *opened))
    refusals_.add(event.peer, *opened);
  else if (found != relays_.end() && found->second->ends().peer == event.peer)
    found->second->on_message(host_.bytes_of(event.range));
  listen();
  sweep();
  return true;
}

// The session server gets one end of a pair of sockets, as if a client had connected here.
bool Relays::take_opened(NodeId opener, std::uint64_t tag) {
  if (relays_.size() >= kMost || relays_.contains(tag)) return false;
  Relay::Socket near(io_), far(io_);
  boost::system::error_code error;
  boost::asio::local::connect_pair(near, far, error);
  if (error) return false;
  admit_(std::move(far));
  add(std::move(near), {opener, tag | kRelayToOpener, tag}, {});
  return true;
}

void Relays::on_peer_gone(NodeId peer) {
  for (auto& [tag, relay] : relays_)
    if (relay->ends().peer == peer) relay->on_peer_gone();
  refusals_.forget(peer);
  sweep();
}

bool Relays::on_drained() {
  bool any = refusals_.retry();
  if (!listening_ && !stopped_) listen();
  for (auto& [tag, relay] : relays_) any = relay->retry() || any;
  if (any) sweep();
  return any;
}

void Relays::sweep() {
  std::erase_if(relays_, [](const auto& entry) { return entry.second->is_over(); });
}

void Relays::close_all() {
  stopped_ = true;
  for (auto& [tag, relay] : relays_) relay->on_peer_gone();
  relays_.clear();
}

}  // namespace fibocast
