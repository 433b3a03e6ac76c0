#include <netinet/tcp.h>

#include <boost/asio/buffer.hpp>
#include <cstring>
#include <utility>

#include "transport/tcp_connection.h"

namespace fibocast {
namespace {

// A peer that ends without a word, as where a host loses power, would keep its place for ever.
template <int kName>
using TcpOption = boost::asio::detail::socket_option::integer<IPPROTO_TCP, kName>;
constexpr int kQuietSeconds = 10, kSecondsBetweenProbes = 5, kProbes = 3;

void end_when_peer_is_gone(boost::asio::ip::tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.set_option(boost::asio::socket_base::keep_alive(true), ignored);
  socket.set_option(TcpOption<TCP_KEEPIDLE>(kQuietSeconds), ignored);
  socket.set_option(TcpOption<TCP_KEEPINTVL>(kSecondsBetweenProbes), ignored);
  socket.set_option(TcpOption<TCP_KEEPCNT>(kProbes), ignored);
}

}  // namespace

TcpReceiver::TcpReceiver(boost::asio::ip::tcp::socket socket, TransportCounters& counters, std::size_t largest_frame,
                         std::chrono::milliseconds patience)
    : socket_(std::move(socket)),
      patience_timer_(socket_.get_executor()),
      counters_(counters),
      largest_frame_(largest_frame),
      patience_(patience),
      buffer_(2 * (kTcpLengthBytes + largest_frame)) {}

void TcpReceiver::start(OnFrame on_frame, std::function<void()> on_closed) {
  on_frame_ = std::move(on_frame);
  on_closed_ = std::move(on_closed);
  end_when_peer_is_gone(socket_);
  patience_timer_.expires_after(patience_);
  patience_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error && !self->valid_ && self->socket_.is_open()) self->turn_away();
  });
  read();
}

void TcpReceiver::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  patience_timer_.cancel();
}

void TcpReceiver::turn_away() {
  ++counters_.turned_away;
  end();
}

void TcpReceiver::end() {
  close();
  std::exchange(on_closed_, [] {})();
}

void TcpReceiver::read() {
  const auto room = boost::asio::buffer(buffer_.data() + filled_, buffer_.size() - filled_);
  socket_.async_read_some(room, [self = shared_from_this()](const boost::system::error_code& error, std::size_t bytes) {
    if (!self->socket_.is_open()) return;
    if (error) return self->end();
    self->filled_ += bytes;
    if (!self->take_frames()) {
      ++self->counters_.malformed;
      return self->turn_away();
    }
    if (self->socket_.is_open()) self->read();
  });
}

// All whole frames in the buffer go up; what remains moves to its front.
bool TcpReceiver::take_frames() {
  std::size_t at = 0;
  while (filled_ - at >= kTcpLengthBytes) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < kTcpLengthBytes; ++i) length |= static_cast<std::size_t>(buffer_[at + i]) << (8 * i);
    if (length > largest_frame_) return false;
    if (filled_ - at < kTcpLengthBytes + length) break;
    const auto frame = std::span<const std::byte>(buffer_).subspan(at + kTcpLengthBytes, length);
    const bool valid = on_frame_(frame);
    if (!socket_.is_open()) return true;
    if (!valid && !valid_) return false;
    valid_ = true;
    ++counters_.frames_received;
    counters_.bytes_received += kTcpLengthBytes + length;
    at += kTcpLengthBytes + length;
  }
  std::memmove(buffer_.data(), buffer_.data() + at, filled_ - at);
  filled_ -= at;
  return true;
}

}  // namespace fibocast
