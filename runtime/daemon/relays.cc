#include "runtime/daemon/relays.h"

#include <boost/asio/local/connect_pair.hpp>
#include <cstring>

namespace fibocast {
namespace {

constexpr std::uint64_t kToOpener = std::uint64_t{1} << 62;
constexpr std::uint64_t kOpenTag = ~std::uint64_t{0};  // "I open a relay; its messages have this tag"
constexpr std::uint64_t kCookies = std::uint64_t{1} << 63;

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
      next_number_(static_cast<std::uint64_t>(monotonic_now()) & 0x3fff'ffff) {}

void Relays::start() {
  if (!listening_) listen();
}

std::uint32_t Relays::receiving() const {
  std::uint32_t count = listening_ ? 1 : 0;
  for (const auto& [cookie, relay] : relays_) count += relay->receives() ? 1 : 0;
  return count;
}

void Relays::listen() {
  listening_ = !stopped_ && host_.node().receive_message(kOpenTag, kOpenTag, host_.now()) == Admission::kTaken;
}

bool Relays::open(Relay::Socket& socket, NodeId to, std::span<const std::byte> first) {
  if (relays_.size() >= kMost) return false;
  const std::uint64_t tag = tag_of(self_, next_number_);
  const auto buffer = host_.node().reserve_buffer(sizeof tag, true);
  if (!buffer) return false;
  const PayloadRange range{*buffer, 0, sizeof tag};
  std::memcpy(host_.bytes_of(range).data(), &tag, sizeof tag);
  if (host_.node().send_message(to, kOpenTag, range, host_.now()) != Admission::kTaken) {
    host_.node().release_buffer(*buffer);
    return false;
  }
  add(std::move(socket), to, tag, tag | kToOpener, first);
  return true;
}

void Relays::add(Relay::Socket socket, NodeId peer, std::uint64_t tag_out, std::uint64_t tag_in,
                 std::span<const std::byte> first) {
  const std::uint64_t cookie = kCookies | next_number_++;
  const auto relay = std::make_shared<Relay>(std::move(socket), host_, Relay::Ends{peer, tag_out, tag_in, cookie});
  relays_[cookie] = relay;
  relay->start(first);
}

bool Relays::on_message(const Event& event) {
  if ((event.cookie & kCookies) == 0) return false;
  if (event.cookie == kOpenTag) {
    take_opened(event);
    listen();
    return true;
  }
  const auto found = relays_.find(event.cookie);
  if (found == relays_.end()) return true;
  found->second->on_message(host_.bytes_of(event.range));
  sweep();
  return true;
}

// The session server gets one end of a pair of sockets, as if a client had connected here.
void Relays::take_opened(const Event& event) {
  std::uint64_t tag = 0;
  if (event.range.length != sizeof tag || relays_.size() >= kMost) return;
  std::memcpy(&tag, host_.bytes_of(event.range).data(), sizeof tag);
  if (tag < Node::kFirstReservedTag || (tag & kToOpener) != 0 || (tag >> 32 & 0xffff) != event.peer) return;
  Relay::Socket near(io_), far(io_);
  boost::system::error_code error;
  boost::asio::local::connect_pair(near, far, error);
  if (error) return;
  admit_(std::move(far));
  add(std::move(near), event.peer, tag | kToOpener, tag, {});
}

void Relays::on_peer_gone(NodeId peer) {
  for (auto& [cookie, relay] : relays_)
    if (relay->ends().peer == peer) relay->on_peer_gone();
  sweep();
}

bool Relays::on_drained() {
  bool any = false;
  if (!listening_ && !stopped_) listen();
  for (auto& [cookie, relay] : relays_) any = relay->retry() || any;
  if (any) sweep();
  return any;
}

void Relays::sweep() {
  std::erase_if(relays_, [](const auto& entry) { return entry.second->is_over(); });
}

void Relays::close_all() {
  stopped_ = true;
  for (auto& [cookie, relay] : relays_) relay->on_peer_gone();
  relays_.clear();
}

}  // namespace fibocast
