#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <utility>

#include "transport/close_on_exec.h"
#include "transport/iovec_of.h"
#include "transport/tcp_connection.h"

namespace fibocast {
namespace {

using boost::asio::ip::tcp;
constexpr std::chrono::milliseconds kSoon{5};  // a connection that was up: before the peer is missed
constexpr std::chrono::milliseconds kFirstBackoff{50};
constexpr std::chrono::milliseconds kLongestBackoff{1000};
// Until the kernel gives up what nobody acknowledges: it would ask ever less often, and not again for two minutes when
// a network is whole again after one.
constexpr std::chrono::milliseconds kUnacknowledged{3000};

using UnacknowledgedFor = boost::asio::detail::socket_option::integer<IPPROTO_TCP, TCP_USER_TIMEOUT>;  // ms

std::array<std::byte, kTcpLengthBytes> length_prefix(std::size_t length) {
  std::array<std::byte, kTcpLengthBytes> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(length >> (8 * i) & 0xff);
  return bytes;
}

}  // namespace

TcpSender::TcpSender(boost::asio::io_context& io, TransportCounters& counters, Events events, const Bounds& bounds)
    : socket_(io),
      timer_(io),
      counters_(counters),
      events_(std::move(events)),
      bounds_(bounds),
      backoff_(kFirstBackoff) {}

void TcpSender::set_endpoint(const tcp::endpoint& endpoint) { endpoint_ = endpoint; }

bool TcpSender::send(std::span<const std::byte> head, std::span<const std::byte> payload) {
  if (state_ == State::kStopped || full()) {
    ++counters_.queue_drops;
    return state_ == State::kStopped;
  }
  if (state_ == State::kIdle) dial();
  const auto length = length_prefix(head.size() + payload.size());
  const std::size_t total = length.size() + head.size() + payload.size();
  const bool direct = state_ == State::kConnected && queue_.empty();
  const std::size_t written = direct ? write_now(length, head, payload) : 0;
  if (written < total) enqueue(length, head, payload, written);
  if (state_ == State::kConnected) write_queue();
  ++counters_.frames_sent;
  counters_.bytes_sent += total;
  blocked_ = full();
  return !blocked_;
}

void TcpSender::stop() {
  state_ = State::kStopped;
  boost::system::error_code ignored;
  socket_.close(ignored);
  timer_.cancel();
}

void TcpSender::dial() {
  state_ = State::kDialling;
  socket_ = tcp::socket(socket_.get_executor());
  boost::system::error_code reported_later;
  socket_.open(endpoint_.protocol(), reported_later);
  close_on_exec(socket_.native_handle());
  socket_.async_connect(endpoint_, [self = shared_from_this()](const boost::system::error_code& error) {
    if (self->state_ == State::kDialling) self->on_dialled(error);
  });
  timer_.expires_after(bounds_.dial_patience);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
    if (!cancelled && self->state_ == State::kDialling) self->on_dialled(boost::asio::error::timed_out);
  });
}

void TcpSender::on_dialled(const boost::system::error_code& error) {
  timer_.cancel();
  if (error) {
    ++counters_.refused;
    return fail(false, error == boost::asio::error::connection_refused);
  }
  boost::system::error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  socket_.set_option(UnacknowledgedFor(kUnacknowledged.count()), ignored);
  socket_.non_blocking(true, ignored);
  state_ = State::kConnected;
  backoff_ = kFirstBackoff;
  watch_for_end();
  write_queue();
}

// The peer never sends here; reading tells at once when the connection ends. Whether its process has ended, the next
// dial shows: what is on the way between the hosts may end a connection as well.
void TcpSender::watch_for_end() {
  socket_.async_read_some(boost::asio::buffer(&end_probe_, 1),
                          [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                            if (error == boost::asio::error::operation_aborted) return;
                            if (self->state_ == State::kConnected) self->fail(true, false);
                          });
}

// What is queued is lost (the channel sends it again); the next dial waits.
void TcpSender::fail(bool was_connected, bool is_refused) {
  boost::system::error_code ignored;
  socket_.close(ignored);
  counters_.queue_drops += queue_.size();
  queue_.clear();
  queued_bytes_ = front_written_ = 0;
  waiting_writable_ = false;
  state_ = State::kWaiting;
  timer_.expires_after(was_connected ? kSoon : backoff_);
  if (!was_connected) backoff_ = std::min(2 * backoff_, kLongestBackoff);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (error || self->state_ != State::kWaiting) return;
    self->state_ = State::kIdle;
    if (!self->queue_.empty()) self->dial();
  });
  if (was_connected) {
    ++counters_.resets;
    events_.on_reset();
  }
  if (is_refused) events_.on_refused();
  unblock();
}

void TcpSender::unblock() {
  if (!full() && std::exchange(blocked_, false)) events_.on_writable();
}

// How much the kernel took at once, without a copy of ours.
std::size_t TcpSender::write_now(std::span<const std::byte> length, std::span<const std::byte> head,
                                 std::span<const std::byte> payload) {
  iovec pieces[3] = {iovec_of(length), iovec_of(head), iovec_of(payload)};
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = 3;
  const ssize_t written = sendmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  return written < 0 ? 0 : static_cast<std::size_t>(written);  // a broken connection shows by its end
}

void TcpSender::enqueue(std::span<const std::byte> length, std::span<const std::byte> head,
                        std::span<const std::byte> payload, std::size_t written) {
  std::vector<std::byte>& frame = queue_.emplace_back();
  frame.reserve(length.size() + head.size() + payload.size());
  for (const auto part : {length, head, payload}) frame.insert(frame.end(), part.begin(), part.end());
  if (queue_.size() == 1) front_written_ = written;
  queued_bytes_ += frame.size();
}

void TcpSender::write_queue() {
  if (queue_.empty() || std::exchange(waiting_writable_, true)) return;
  socket_.async_wait(tcp::socket::wait_write, [self = shared_from_this()](const boost::system::error_code& error) {
    if (error || self->state_ != State::kConnected) return;
    self->waiting_writable_ = false;
    self->flush();
  });
}

void TcpSender::flush() {
  while (!queue_.empty()) {
    const auto rest = std::span(queue_.front()).subspan(front_written_);
    const std::size_t written = write_now(rest, {}, {});
    front_written_ += written;
    if (written < rest.size()) break;
    queued_bytes_ -= queue_.front().size();
    queue_.pop_front();
    front_written_ = 0;
  }
  write_queue();
  unblock();
}

}  // namespace fibocast
