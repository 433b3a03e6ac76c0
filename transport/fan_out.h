// Small frames for several nodes of this host leave in one datagram, to a multicast group on loopback that they have
// joined: the kernel hands it to each, which costs a sixth of a send to each. Each group is of 16 nodes that follow
// each other: who gets a datagram copies all of it.
//
// Who hears us shows by itself. From time to time a datagram asks for answers; who has not answered of late gets its
// frames alone, as do all in a host where no group can be joined. That a node answered is no promise: what is sent here
// may be lost like any datagram, and what is sent again always goes alone.
#pragma once

#include <boost/asio/ip/udp.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/fan_out_datagram.h"
#include "transport/words.h"

namespace fibocast {

inline constexpr std::size_t kLeastFanOut = 3;              // frames that are worth it
inline constexpr std::size_t kMostFanOutBytes = 20 * 1024;  // of a datagram
inline constexpr NodeId kFanOutNodes = 16;                  // of a group
inline constexpr NodeId kMostFanOutGroups = 64;             // nodes beyond get their frames alone
inline constexpr unsigned kMostUnanswered = 2;              // questions; after more a node is taken to be deaf

// One thread, that of the transport.
class FanOut {
 public:
  struct Settings {
    boost::asio::ip::udp::endpoint group;  // the first one, of version 4; the others' addresses follow
    NodeId self = 0;
    Nanoseconds ask_again = 1'000'000'000;
  };
  // Joins its group on loopback; not joined() if the system refuses. `sender` sends, and outlives this.
  FanOut(boost::asio::ip::udp::socket& sender, const Settings& settings);
  NodeId self() const { return settings_.self; }
  bool joined() const { return socket_.is_open(); }
  // Where the group's datagrams arrive.
  boost::asio::ip::udp::socket& socket() { return socket_; }
  void close();

  // False: flush() first.
  bool has_room(NodeId to, std::size_t bytes) const;
  // False: it is to be sent alone. `head` and `payload` are not needed any more.
  bool gather(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload);
  bool is_idle() const { return gathered_ == 0; }
  // Sends what is gathered, and asks now and then who hears it. Gives to send_alone(NodeId to, bytes) what is not worth
  // a datagram of its own kind, in order.
  struct Sent {
    std::uint64_t datagrams = 0, frames = 0, bytes = 0;
  };
  template <class SendAlone>
  Sent flush(Nanoseconds now, SendAlone send_alone);

  // `from` answered with this token.
  void on_answer(NodeId from, std::uint64_t token);

 private:
  struct Group {
    boost::asio::ip::udp::endpoint address;
    Nanoseconds ask_at = 0;
    std::uint8_t unanswered[kFanOutNodes];  // questions since its last answer
    std::size_t hearing = 0;                // nodes that hear us
    std::size_t frames = 0, missed = 0;     // gathered, and those that would be if their receivers heard us
    std::size_t used = fan_out::kHeadBytes;
    std::vector<std::byte> datagram;  // place for the head, then what is gathered
  };
  Group& group_of(NodeId node);
  std::size_t send(Group& group, Nanoseconds now);
  std::size_t send_datagram(Group& group, std::size_t bytes, std::size_t frames, bool asks);

  Settings settings_;
  boost::asio::ip::udp::socket& sender_;
  boost::asio::ip::udp::socket socket_;
  std::uint64_t token_ = 0;
  std::vector<Group> groups_;
  std::size_t gathered_ = 0;  // frames, and those that were missed
};

template <class SendAlone>
FanOut::Sent FanOut::flush(Nanoseconds now, SendAlone send_alone) {
  Sent sent;
  for (Group& group : groups_) {
    if (group.frames + group.missed == 0) continue;
    if (const std::size_t bytes = send(group, now)) {
      ++sent.datagrams;
      sent.frames += group.frames, sent.bytes += bytes;
    } else {
      fan_out::for_each_frame(std::span(group.datagram).first(group.used).subspan(fan_out::kHeadBytes), send_alone);
    }
    group.frames = group.missed = 0;
    group.used = fan_out::kHeadBytes;
  }
  gathered_ = 0;
  return sent;
}

}  // namespace fibocast
