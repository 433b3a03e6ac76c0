// One direction of frames over one TCP connection: each side sends on the connection it dialled and receives on
// those it accepted, so no two nodes have to agree on whose connection survives. Each frame goes as its length
// (4 bytes, little-endian) and its bytes. Parts of TcpTransport.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "transport/transport.h"
#include "transport/transport_counters.h"

namespace fibocast {

inline constexpr std::size_t kTcpLengthBytes = 4;

// The connection that we dial to one peer, on the first frame and again after it broke.
class TcpSender : public std::enable_shared_from_this<TcpSender> {
 public:
  struct Events {
    std::function<void()> on_writable;
    std::function<void()> on_reset;
    std::function<void()> on_refused;  // nobody listens there
  };
  struct Bounds {
    std::size_t frames, bytes;  // that wait
    std::chrono::milliseconds dial_patience;
  };
  TcpSender(boost::asio::io_context& io, TransportCounters& counters, Events events, const Bounds& bounds);

  void set_endpoint(const boost::asio::ip::tcp::endpoint& endpoint);
  // False: the queue is full now; on_writable will tell.
  bool send(std::span<const std::byte> head, std::span<const std::byte> payload);
  void stop();

 private:
  enum class State : std::uint8_t { kIdle, kDialling, kConnected, kWaiting, kStopped };
  void dial();
  void on_dialled(const boost::system::error_code& error);
  void watch_for_end();
  void fail(bool was_connected, bool is_refused);
  std::size_t write_now(std::span<const std::byte> length, std::span<const std::byte> head,
                        std::span<const std::byte> payload);
  void enqueue(std::span<const std::byte> length, std::span<const std::byte> head, std::span<const std::byte> payload,
               std::size_t written);
  void write_queue();
  void flush();
  bool full() const { return queue_.size() >= bounds_.frames || queued_bytes_ >= bounds_.bytes; }
  void unblock();

  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  boost::asio::ip::tcp::endpoint endpoint_;
  TransportCounters& counters_;
  Events events_;
  Bounds bounds_;
  State state_ = State::kIdle;
  std::chrono::milliseconds backoff_;
  std::deque<std::vector<std::byte>> queue_;
  std::size_t queued_bytes_ = 0;
  std::size_t front_written_ = 0;  // of the first frame in the queue
  bool waiting_writable_ = false;
  bool blocked_ = false;
  std::byte end_probe_{};
};

// A connection that we accepted. Closed when it announces an impossible length, when its first frame is not taken, or
// when none came within `patience`.
class TcpReceiver : public std::enable_shared_from_this<TcpReceiver> {
 public:
  using OnFrame = std::function<bool(std::span<const std::byte>)>;  // false: not valid
  TcpReceiver(boost::asio::ip::tcp::socket socket, TransportCounters& counters, std::size_t largest_frame,
              std::chrono::milliseconds patience);

  void start(OnFrame on_frame, std::function<void()> on_closed);
  void close();
  // Because others need its place.
  void turn_away();
  bool is_proved() const { return valid_; }

 private:
  void read();
  bool take_frames();  // false: garbage
  void end();

  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer patience_timer_;
  TransportCounters& counters_;
  std::size_t largest_frame_;
  std::chrono::milliseconds patience_;
  OnFrame on_frame_;
  std::function<void()> on_closed_;
  std::vector<std::byte> buffer_;
  std::size_t filled_ = 0;
  bool valid_ = false;  // it sent a valid frame once
};

}  // namespace fibocast
