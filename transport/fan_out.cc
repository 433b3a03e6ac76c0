#include "transport/fan_out.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/ip/multicast.hpp>
#include <cstring>
#include <random>
#include <utility>

#include "transport/close_on_exec.h"
#include "transport/datagram_calls.h"
#include "transport/iovec_of.h"

namespace fibocast {
namespace {

using boost::asio::ip::udp;

constexpr std::uint8_t kDeaf = kMostUnanswered + 1;
constexpr Nanoseconds kFirstPause = 64;  // part of ask_again

udp::endpoint address_of(const udp::endpoint& first, NodeId group) {
  return {boost::asio::ip::address_v4(first.address().to_v4().to_uint() + group), first.port()};
}

std::uint16_t bit_of(NodeId node) { return static_cast<std::uint16_t>(1u << node % kFanOutNodes); }

// Takes only datagrams with something for the group's node `index`: to let go of others here would take a copy of each.
// The kernel shows the filter the UDP header first.
bool take_only_what_is_for(NodeId index, int socket) {
  constexpr std::size_t kUdpHeader = 8;
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, static_cast<std::uint32_t>(kUdpHeader + fan_out::kReceiversAt + index / 8)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 1u << index % 8, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0xffff'ffff),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const sock_fprog program{.len = std::size(steps), .filter = steps};
  return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
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
  close_on_exec(socket_.native_handle());
  // The nodes of the host share the port: a group's datagrams go to all of them.
  if (!error) socket_.set_option(udp::socket::reuse_address(true), error);
  if (!error && !take_only_what_is_for(settings_.self % kFanOutNodes, socket_.native_handle()))
    error = boost::asio::error::no_permission;
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
    group.small.room.resize(kMostFanOutBytes);
    group.sharing.room.resize(kMostSharingHeads);
  }
  return groups_[node / kFanOutNodes];
}

bool FanOut::hears(NodeId node) const {
  const NodeId group = node / kFanOutNodes;
  return group < groups_.size() && groups_[group].unanswered[node % kFanOutNodes] != kDeaf;
}

bool FanOut::has_room(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) const {
  if (to / kFanOutNodes >= groups_.size()) return true;
  const Group& group = groups_[to / kFanOutNodes];
  const bool shares = payload.size() >= kLeastSharedPayload;
  const Batch& batch = shares ? group.sharing : group.small;
  const std::size_t bytes = fan_out::kEntryBytes + head.size() + (shares ? 0 : payload.size());
  if (batch.used + bytes > batch.room.size()) return false;
  return !shares || batch.frames == 0 ||
         (batch.payload.data() == payload.data() && batch.payload.size() == payload.size());
}

bool FanOut::gather(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  if (to >= kMostFanOutGroups * kFanOutNodes) return false;
  Group& group = group_of(to);
  if (!has_room(to, head, payload)) return false;
  ++gathered_;
  if (!hears(to)) {
    ++group.missed;
    return false;
  }
  const bool shares = payload.size() >= kLeastSharedPayload;
  Batch& batch = shares ? group.sharing : group.small;
  if (shares) batch.payload = std::exchange(payload, {});
  const auto entry = fan_out::encode_entry(to, head.size() + payload.size(), shares);
  for (const std::span<const std::byte> piece : {std::span<const std::byte>(entry), head, payload}) {
    if (!piece.empty()) std::memcpy(&batch.room[batch.used], piece.data(), piece.size());
    batch.used += piece.size();
  }
  ++batch.frames;
  batch.receivers |= bit_of(to);
  return true;
}

// Nodes start one after the other: who was not there for the first question is asked again soon, then less and less.
// Those who hear us need not be quick for that.
void FanOut::note_question(Group& group, Nanoseconds now) {
  const Nanoseconds longest = settings_.ask_again;
  group.pause = group.missed == 0 ? longest : std::clamp(2 * group.pause, longest / kFirstPause, longest);
  group.ask_at = now + group.pause;
  if (now < group.count_at) return;
  group.count_at = now + longest;
  for (std::uint8_t& questions : group.unanswered)
    if (questions < kDeaf) ++questions;
}

bool FanOut::is_time_to_ask(Group& group, Nanoseconds now) {
  if (now < group.ask_at) return false;
  note_question(group, now);
  return true;
}

// If whoever gets one of the small ones gets the payload as well, and the datagram has room for both. False: each of
// the two is to be sent for itself.
bool FanOut::send_together(const Group& group, Sent& sent) {
  const Batch &small = group.small, &sharing = group.sharing;
  return small.frames > 0 && (small.receivers & ~sharing.receivers) == 0 &&
         small.used + sharing.used <= kMostSharingHeads && send(group, small, sharing, false, sent);
}

// And a question, if it asks. False: they are to be sent alone.
bool FanOut::send_small(const Group& group, bool asks, Sent& sent) {
  if (group.small.frames >= kLeastFanOut) return send(group, group.small, {}, asks, sent);
  Sent not_counted;
  if (asks) send(group, {}, {}, true, not_counted);
  return false;
}

// However few get it: nobody else's socket takes it, and it is sealed for this.
void FanOut::send_sharing(const Group& group, Sent& sent) {
  if (group.sharing.frames > 0 && !send(group, {}, group.sharing, false, sent)) sent.lost += group.sharing.frames;
}

bool FanOut::send(const Group& group, const Batch& small, const Batch& sharing, bool asks, Sent& sent) {
  constexpr std::uint16_t kAll = 0xffff;
  const auto frames = static_cast<std::uint16_t>(small.frames + sharing.frames);
  const auto receivers = static_cast<std::uint16_t>(small.receivers | sharing.receivers);
  const auto head = fan_out::encode({.from = settings_.self,
                                     .token = token_,
                                     .frames = frames,
                                     .receivers = asks ? kAll : receivers,
                                     .asks = asks,
                                     .shares = sharing.frames > 0});
  auto address = group.address;
  iovec pieces[] = {iovec_of(head), iovec_of(small.bytes()), iovec_of(sharing.bytes()), iovec_of(sharing.payload)};
  msghdr message{};
  message.msg_name = address.data();
  message.msg_namelen = static_cast<socklen_t>(address.size());
  message.msg_iov = pieces;
  message.msg_iovlen = sharing.frames > 0 ? 4 : 2;
  const ssize_t bytes = datagram_calls::send_message(sender_.native_handle(), message);
  if (bytes < 0) return false;
  ++sent.datagrams, sent.frames += frames, sent.bytes += static_cast<std::uint64_t>(bytes);
  return true;
}

void FanOut::on_answer(NodeId from, std::uint64_t token) {
  if (token != token_ || from >= kMostFanOutGroups * kFanOutNodes) return;
  group_of(from).unanswered[from % kFanOutNodes] = 0;
}

}  // namespace fibocast
