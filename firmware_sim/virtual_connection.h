// One direction of frames over one connection in virtual time, as the kernels of two hosts carry it: in order, nothing
// lost while it stands, and only so many bytes at a time. A part of VirtualStreams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "firmware_sim/event_queue.h"

namespace fibocast {

class VirtualConnection : public std::enable_shared_from_this<VirtualConnection> {
 public:
  using Frame = std::vector<std::byte>;
  // The network between the two hosts.
  struct Way {
    std::function<Nanoseconds(bool back)> time;  // that something takes from the sender to the receiver, or back
    std::function<bool(bool back)> is_cut;       // nothing passes now
  };
  struct Sender {
    std::function<void()> on_room;  // it takes frames again
    std::function<void()> on_end;   // it is broken
  };
  // `on_arrival`: the receiver has something to read. `held_bytes`: of what was sent and is not read yet.
  VirtualConnection(EventQueue& queue, Way way, std::size_t held_bytes, Sender sender,
                    std::function<void()> on_arrival);

  // -- the sender's end
  bool has_room() const { return held_ < held_bytes_; }
  // Precondition: has_room(). A frame that begins to fit is taken as a whole.
  void put(Frame frame);
  // Something waits for room from now on: a receiver that makes none for too long ends the connection.
  void wait_for_room();
  // The sender's process ends: what is on its way still comes.
  void let_go() { sender_ = {}; }

  // -- the receiver's end
  // When what is to be read next came; nothing: there is none.
  std::optional<Nanoseconds> next_came_at() const;
  Frame take();
  // The receiver's process ends: its host tells the sender.
  void close();
  // Nothing will come any more.
  bool is_over() const { return arrived_.empty() && (broken_ || (!sender_.on_end && in_flight_.empty())); }

  // -- what may happen to it
  // It ends now at both hosts: what is on its way is lost, and unless `keeps` what has come and was not read, too.
  void cut(bool keeps);

 private:
  struct Timed {
    Frame frame;
    Nanoseconds at;  // when it comes, or came
  };
  void arrive_later();
  void arrive();
  void tell();
  void on_told(std::uint64_t arrived, std::uint64_t read);
  void tell_end();
  void watch();
  void on_watch();
  Nanoseconds waiting_since() const;
  template <class Action>
  void after(Nanoseconds delay, Action action);

  EventQueue& queue_;
  Way way_;
  std::size_t held_bytes_;
  Sender sender_;
  std::function<void()> on_arrival_;
  std::deque<Timed> in_flight_, arrived_;
  std::deque<Nanoseconds> unacknowledged_;  // when each left
  Nanoseconds last_due_ = 0;                // nothing comes before it
  Nanoseconds resend_after_ = 0;
  Nanoseconds no_room_since_ = kNever;
  std::size_t held_ = 0;  // as far as the sender knows
  std::uint64_t arrived_count_ = 0, read_bytes_ = 0;
  std::uint64_t told_arrived_ = 0, told_read_ = 0;
  bool arriving_ = false, watched_ = false, closed_ = false, broken_ = false;
};

}  // namespace fibocast
