// Frames for several nodes of this host leave in one datagram, to a multicast group on loopback that they have joined:
// the kernel hands it to each, which costs a sixth of a send to each. A large payload that several of them get is in it
// once, and with it small frames for the same nodes. Each group is of 16 nodes that follow each other: who gets a
// datagram copies all of it.
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
#include "transport/transport.h"
#include "transport/words.h"

namespace fibocast {

inline constexpr std::size_t kLeastFanOut = 3;              // frames that are worth it
inline constexpr std::size_t kMostFanOutBytes = 20 * 1024;  // of the frames of a datagram without a shared payload
inline constexpr std::size_t kMostSharingHeads = 8 * 1024;  // ... of one with a shared payload
inline constexpr NodeId kFanOutNodes = 16;                  // of a group
inline constexpr NodeId kMostFanOutGroups = 64;             // nodes beyond get their frames alone
inline constexpr unsigned kMostUnanswered = 2;              // questions; after more a node is taken to be deaf

// One thread, that of the transport.
class FanOut {
 public:
  struct Settings {
    boost::asio::ip::udp::endpoint group;  // the first one, of version 4; the others' addresses follow
    NodeId self = 0;
    Nanoseconds ask_again = 1'000'000'000;  // at first sooner, while somebody does not hear us who could soon
  };
  // Joins its group on loopback; not joined() if the system refuses. `sender` sends, and outlives this.
  FanOut(boost::asio::ip::udp::socket& sender, const Settings& settings);
  // It has answered of late: gather() takes what has room.
  bool hears(NodeId node) const;
  bool joined() const { return socket_.is_open(); }
  // Where the group's datagrams arrive.
  boost::asio::ip::udp::socket& socket() { return socket_; }
  void close();

  // False: flush() first.
  bool has_room(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) const;
  // False: it is to be sent alone. `head` is not needed any more, nor is `payload`, unless it has kLeastSharedPayload:
  // then it stays where it is until flush(), and is sent once to all that get it.
  bool gather(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload);
  bool is_idle() const { return gathered_ == 0; }
  // Sends what is gathered, and asks now and then who hears it. Gives to send_alone(NodeId to, bytes) what is not worth
  // a datagram of its own kind, in order.
  struct Sent {
    std::uint64_t datagrams = 0, frames = 0, bytes = 0, lost = 0;
  };
  // `clock()` is the time, which is asked for only if there may be a question.
  template <class Clock, class SendAlone>
  Sent flush(Clock clock, SendAlone send_alone);

  // `from` answered with this token.
  void on_answer(NodeId from, std::uint64_t token);

 private:
  struct Batch {
    std::uint16_t frames = 0, receivers = 0;
    std::size_t used = 0;
    std::vector<std::byte> room;         // for the frames
    std::span<const std::byte> payload;  // of all of them, if they share one
    std::span<const std::byte> bytes() const { return std::span(room).first(used); }
    void clear() { frames = receivers = 0, used = 0, payload = {}; }
  };
  struct Group {
    boost::asio::ip::udp::endpoint address;
    Nanoseconds ask_at = 0, pause = 0;      // the next question, and how long after the last one
    Nanoseconds count_at = 0;               // the next one that an answer is owed to
    std::uint8_t unanswered[kFanOutNodes];  // of those, since its last answer
    std::size_t missed = 0;                 // frames that would have been gathered if their receivers heard us
    Batch small, sharing;
    bool is_idle() const { return small.frames + sharing.frames + missed == 0; }
  };
  Group& group_of(NodeId node);
  void note_question(Group& group, Nanoseconds now);
  static bool may_ask(const Group& group) { return group.small.frames + group.missed >= kLeastFanOut; }
  bool is_time_to_ask(Group& group, Nanoseconds now);
  bool send_together(const Group& group, Sent& sent);
  bool send_small(const Group& group, bool asks, Sent& sent);
  void send_sharing(const Group& group, Sent& sent);
  bool send(const Group& group, const Batch& small, const Batch& sharing, bool asks, Sent& sent);

  Settings settings_;
  boost::asio::ip::udp::socket& sender_;
  boost::asio::ip::udp::socket socket_;
  std::uint64_t token_ = 0;
  std::vector<Group> groups_;
  std::size_t gathered_ = 0;  // frames, and those that were missed
};

template <class Clock, class SendAlone>
FanOut::Sent FanOut::flush(Clock clock, SendAlone send_alone) {
  Sent sent;
  for (Group& group : groups_) {
    if (group.is_idle()) continue;
    const bool asks = may_ask(group) && is_time_to_ask(group, clock());
    const bool together = !asks && send_together(group, sent);
    if (!together && !send_small(group, asks, sent))
      fan_out::for_each_frame(group.small.bytes(),
                              [&](NodeId to, std::span<const std::byte> frame, bool) { send_alone(to, frame); });
    if (!together) send_sharing(group, sent);
    group.small.clear(), group.sharing.clear();
    group.missed = 0;
  }
  gathered_ = 0;
  return sent;
}

}  // namespace fibocast
