#include "transport/fan_out.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/ip/multicast.hpp>
#include <cstring>
#include <random>

namespace fibocast {
namespace {

using boost::asio::ip::udp;
using fan_out::kHeadBytes;

constexpr std::uint8_t kDeaf = kMostUnanswered + 1;

udp::endpoint address_of(const udp::endpoint& first, NodeId group) {
  return {boost::asio::ip::address_v4(first.address().to_v4().to_uint() + group), first.port()};
}

}  // namespace

FanOut::FanOut(udp::socket& sender, const Settings& settings)
    : settings_(settings), sender_(sender), socket_(sender.get_executor()) {
  std::random_device random;
  token_ = std::uint64_t{random()} << 32 | random();
  namespace multicast = boost::asio::ip::multicast;
  const auto loopback = boost::asio::ip::address_v4::loopback();
  const udp::endpoint ours = address_of(settings_.group, settings_.self / kFanOutNodes);
  boost::system::error_code error;
  socket_.open(udp::v4(), error);
  // The nodes of the host share the port: a group's datagrams go to all of them.
  if (!error) socket_.set_option(udp::socket::reuse_address(true), error);
  if (!error) socket_.bind(ours, error);
  if (!error) socket_.set_option(multicast::join_group(ours.address().to_v4(), loopback), error);
  if (!error) socket_.non_blocking(true, error);
  if (!error) sender_.set_option(multicast::outbound_interface(loopback), error);
  if (error) close();
}

void FanOut::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

FanOut::Group& FanOut::group_of(NodeId node) {
  while (groups_.size() <= node / kFanOutNodes) {
    Group& group = groups_.emplace_back();
    group.address = address_of(settings_.group, static_cast<NodeId>(groups_.size() - 1));
    std::ranges::fill(group.unanswered, kDeaf);
    group.datagram.resize(kMostFanOutBytes);
  }
  return groups_[node / kFanOutNodes];
}

bool FanOut::has_room(NodeId to, std::size_t bytes) const {
  if (to / kFanOutNodes >= groups_.size()) return true;
  const Group& group = groups_[to / kFanOutNodes];
  return group.used + fan_out::kEntryBytes + bytes <= group.datagram.size();
}

bool FanOut::gather(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  if (to >= kMostFanOutGroups * kFanOutNodes) return false;
  Group& group = group_of(to);
  const std::size_t bytes = head.size() + payload.size();
  if (!has_room(to, bytes)) return false;
  ++gathered_;
  if (group.unanswered[to % kFanOutNodes] == kDeaf) {
    ++group.missed;
    return false;
  }
  const auto entry = fan_out::encode_entry(to, bytes);
  for (const std::span<const std::byte> piece : {std::span<const std::byte>(entry), head, payload}) {
    if (!piece.empty()) std::memcpy(&group.datagram[group.used], piece.data(), piece.size());
    group.used += piece.size();
  }
  ++group.frames;
  return true;
}

std::size_t FanOut::send(Group& group, Nanoseconds now) {
  const bool is_worth_it = group.frames >= kLeastFanOut && 4 * group.frames >= 3 * group.hearing;
  const bool asks = group.frames + group.missed >= kLeastFanOut && now >= group.ask_at;
  if (asks) {
    group.ask_at = now + settings_.ask_again;
    for (std::uint8_t& questions : group.unanswered)
      if (questions < kDeaf && ++questions == kDeaf) --group.hearing;
  }
  if (is_worth_it) return send_datagram(group, group.used, group.frames, asks);
  if (asks) send_datagram(group, kHeadBytes, 0, true);
  return 0;
}

std::size_t FanOut::send_datagram(Group& group, std::size_t bytes, std::size_t frames, bool asks) {
  const auto head = fan_out::encode({settings_.self, token_, static_cast<std::uint16_t>(frames), asks});
  std::memcpy(group.datagram.data(), head.data(), head.size());
  const ssize_t sent = sendto(sender_.native_handle(), group.datagram.data(), bytes, MSG_DONTWAIT | MSG_NOSIGNAL,
                              group.address.data(), static_cast<socklen_t>(group.address.size()));
  return sent < 0 ? 0 : static_cast<std::size_t>(sent);
}

void FanOut::on_answer(NodeId from, std::uint64_t token) {
  if (token != token_ || from >= kMostFanOutGroups * kFanOutNodes) return;
  Group& group = group_of(from);
  std::uint8_t& questions = group.unanswered[from % kFanOutNodes];
  if (questions == kDeaf) ++group.hearing;
  questions = 0;
}

}  // namespace fibocast
