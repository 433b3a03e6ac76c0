#include "runtime/client/connection.h"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/client/translate.h"
#include "runtime/wire/client_codec.h"
#include "transport/close_on_exec.h"
#include "transport/iovec_of.h"

namespace fibocast {
namespace {

using Socket = boost::asio::local::stream_protocol::socket;

constexpr int kTries = 64;  // looks before blocking
constexpr std::chrono::milliseconds kLongYield{3}, kBlockAfter{20};
constexpr std::chrono::seconds kLookAgain{1};  // whether more has come of an answer that is late
constexpr std::size_t kKeepBytes = 4 << 20;    // a buffer that grew beyond gives its memory back when empty
constexpr std::size_t kMaxMessage = 1u << 30;  // an answer that claims more is not from a daemon of ours

void recycle(std::string& buffer, std::size_t& begin) {
  if (begin < buffer.size()) return;
  begin = 0;
  buffer.clear();
  if (buffer.capacity() > kKeepBytes) buffer.shrink_to_fit();
}

int poll_timeout_ms(Connection::Clock::time_point until) {
  if (until == Connection::Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Connection::Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

}  // namespace

Result<std::shared_ptr<Connection>> Connection::open(const std::string& path,
                                                     const boost::asio::any_io_executor& executor) {
  if (path.size() >= sizeof(sockaddr_un{}.sun_path))
    return Status{Code::kInvalid, "the socket path '" + path + "' is longer than the system allows (107 bytes)", {}};
  Socket socket(executor);
  boost::system::error_code error;
  socket.open({}, error);
  close_on_exec(socket.native_handle());
  socket.connect(path, error);
  if (error)
    return Status{
        Code::kUnavailable, "no daemon answers at " + path + " (" + error.message() + "): is fibocastd up?", {}};
  return std::make_shared<Connection>(std::move(socket), path);
}

Connection::Connection(Socket socket, std::string path)
    : socket_(std::move(socket)),
      path_(std::move(path)),
      timer_(socket_.get_executor()),
      received_(kMaxMessage, kKeepBytes) {}

Connection::Answer Connection::exchange(client::Request& request, Bytes payload, Clock::time_point until) {
  const bool sent = submit(request, payload);
  const std::uint64_t wanted = request.id();
  while (sent && broken_.empty()) {
    while (next_response()) {
      if (response_.id() == wanted) {
        leave_thread();
        return {response_, payload_};
      }
      dispatch();
    }
    if (!broken_.empty()) break;
    if (Clock::now() >= until) {
      leave_thread();
      answer_silence(wanted);
      return {response_, payload_};
    }
    wait_in_thread(until);
  }
  out_payload_ = {};
  answer(wanted, client::CODE_UNAVAILABLE, broken_);
  return {response_, payload_};
}

bool Connection::wait_for_end(Clock::time_point until) {
  while (broken_.empty() && Clock::now() < until) {
    while (next_response()) dispatch();
    if (broken_.empty()) wait_in_thread(until);
  }
  return !broken_.empty();
}

// After a blocking call: what it has read for the handlers of others is theirs, and the executor waits for no more
// than there is to come.
void Connection::leave_thread() {
  keep_payload();
  if (pending_.empty()) return wait_on_executor();
  if (received_.empty()) return;
  boost::asio::post(socket_.get_executor(), [self = shared_from_this()] {
    if (self->broken_.empty()) self->pump();
  });
}

void Connection::start(client::Request& request, Bytes payload, Done done, Clock::time_point until) {
  const bool sent = submit(request, payload);
  keep_payload();
  pending_.emplace(request.id(), Pending{std::move(done), until});
  if (!sent) return end_all(client::CODE_UNAVAILABLE, broken_);
  wait_on_executor();
  arm_timer(until);
}

void Connection::close() {
  end_all(client::CODE_CANCELLED, "the client was closed");
  broken_ = "the client was closed";
  stop_timer();
  boost::system::error_code ignored;
  socket_.close(ignored);
}

// Appends the request to what is to be written and writes what the socket takes.
bool Connection::submit(client::Request& request, Bytes payload) {
  request.set_id(next_id_++);
  if (!broken_.empty()) return false;
  keep_payload();  // of an exchange whose handlers we are called by
  append_frame_head(request, payload.size(), out_);
  out_payload_ = payload;
  flush();
  return broken_.empty();
}

// Its owner takes it back: what is not sent yet is copied.
void Connection::keep_payload() {
  out_.append(reinterpret_cast<const char*>(out_payload_.data()), out_payload_.size());
  out_payload_ = {};
}

void Connection::flush() {
  while (has_output()) {
    iovec parts[2] = {iovec_of(std::as_bytes(std::span(out_)).subspan(out_begin_)), iovec_of(out_payload_)};
    msghdr message{};
    message.msg_iov = parts, message.msg_iovlen = std::size(parts);
    const ssize_t n = ::sendmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) {
      note_sent(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (const int error = errno; error != EINTR) {
      read_last_words();
      return fail(std::strerror(error));
    }
  }
  recycle(out_, out_begin_);
}

void Connection::note_sent(std::size_t bytes) {
  const std::size_t first = std::min(bytes, out_.size() - out_begin_);
  out_begin_ += first;
  out_payload_ = out_payload_.subspan(bytes - first);
}

// One read of what is there, unless a whole message waits to be handled first.
void Connection::read_available() {
  forget_response();
  if (std::span<const std::byte> frame; received_.next(frame) != FrameBuffer::Next::kMore) return;
  const std::span<std::byte> room = received_.prepare();
  const ssize_t n = ::recv(socket_.native_handle(), room.data(), room.size(), MSG_DONTWAIT);
  if (n > 0) received_.commit(static_cast<std::size_t>(n)), ++reads_;
  if (n == 0) fail("it closed the connection");
  if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) fail(std::strerror(errno));
}

// Why it takes no more.
void Connection::read_last_words() {
  read_available();
  while (broken_.empty() && next_response()) dispatch();
}

// Takes the next whole message from the input into response_.
bool Connection::next_response() {
  forget_response();
  std::span<const std::byte> frame;
  const FrameBuffer::Next next = received_.next(frame);
  if (next == FrameBuffer::Next::kMore) return false;
  if (next == FrameBuffer::Next::kGarbage || !parse_response(frame, response_, payload_)) {
    fail("what it says is not Fibocast's protocol");
    return false;
  }
  return holds_response_ = true;
}

void Connection::forget_response() {
  payload_ = {};
  if (std::exchange(holds_response_, false)) received_.consume();
}

// Hands response_ to the asynchronous call that waits for it; answers nobody waits for any more are dropped. What
// answers no request says why the connection will be closed.
void Connection::dispatch() {
  if (response_.id() == 0) complaint_ = response_.status().sentence();
  const auto found = pending_.find(response_.id());
  if (found == pending_.end()) return;
  Done done = std::move(found->second.done);
  pending_.erase(found);
  if (done.status) done.status(decode_status(response_));
  if (done.outcome) done.outcome(decode_outcome(response_, payload_));
  if (done.received) done.received(decode_received(response_, payload_));
}

// The socket is ready for something an asynchronous call waits for.
void Connection::pump() {
  flush();
  if (broken_.empty()) read_available();
  while (broken_.empty() && next_response()) dispatch();
  wait_on_executor();
}

void Connection::wait_on_executor() {
  if (!broken_.empty()) return;
  const auto arm = [this](Socket::wait_type what, bool Connection::*flag) {
    this->*flag = true;
    socket_.async_wait(what, [self = shared_from_this(), flag](boost::system::error_code error) {
      (*self).*flag = false;
      if (!error) return self->pump();
      if (!self->pending_.empty()) self->wait_on_executor();
    });
  };
  boost::system::error_code ignored;
  if (pending_.empty() && waiting_to_read_) socket_.cancel(ignored);  // or run() of the executor would never end
  if (pending_.empty()) stop_timer();
  if (!pending_.empty() && !waiting_to_read_) arm(Socket::wait_read, &Connection::waiting_to_read_);
  if (has_output() && !waiting_to_write_) arm(Socket::wait_write, &Connection::waiting_to_write_);
}

// Unless it comes sooner anyway.
void Connection::arm_timer(Clock::time_point at) {
  if (at >= armed_for_) return;
  armed_for_ = at;
  timer_.expires_at(at);
  timer_.async_wait([self = shared_from_this()](boost::system::error_code error) {
    if (!error && self->broken_.empty()) self->on_timer();
  });
}

void Connection::stop_timer() {
  if (armed_for_ == Clock::time_point::max()) return;
  armed_for_ = Clock::time_point::max();
  timer_.cancel();
}

// The executor may have run late, so first all that is there is read. A daemon in the midst of an answer, which waited
// for us to read, is not stopped as long as more comes.
void Connection::on_timer() {
  armed_for_ = Clock::time_point::max();
  std::uint64_t before;
  do {
    before = reads_;
    pump();
  } while (broken_.empty() && reads_ != before);
  if (!broken_.empty()) return;
  const bool goes_on = !received_.empty() && reads_ != reads_at_timer_;
  reads_at_timer_ = reads_;
  const Clock::time_point now = Clock::now();
  if (goes_on) return arm_timer(now + kLookAgain);
  Clock::time_point next = Clock::time_point::max();
  for (auto at = pending_.begin(); at != pending_.end();) {
    const auto& [id, pending] = *at++;
    if (pending.until <= now) {
      answer_silence(id);
      dispatch();
    } else {
      next = std::min(next, pending.until);
    }
  }
  arm_timer(next);
  wait_on_executor();
}

// As a daemon waits: looks a few times, letting others have the core, then blocks; at once, for a while, where the core
// is somebody else's.
bool Connection::polls_ready(pollfd& ready) {
  Clock::time_point before = Clock::now();
  if (before < block_until_) return false;
  for (int tries = 0; tries < kTries; ++tries) {
    if (::poll(&ready, 1, 0) != 0) return true;
    sched_yield();
    const Clock::time_point after = Clock::now();
    if (after - std::exchange(before, after) < kLongYield) continue;
    block_until_ = after + kBlockAfter;
    return false;
  }
  return false;
}

void Connection::wait_in_thread(Clock::time_point until) {
  const bool writing = has_output();
  pollfd ready{socket_.native_handle(), static_cast<short>(writing ? POLLIN | POLLOUT : POLLIN), 0};
  if (!polls_ready(ready) && ::poll(&ready, 1, poll_timeout_ms(until)) <= 0) return;
  if (ready.revents & POLLOUT) flush();
  if (broken_.empty() && (ready.revents & ~POLLOUT)) read_available();
}

void Connection::fail(const std::string& why) {
  if (!broken_.empty()) return;
  broken_ = "lost the daemon at " + path_ + ": " + (complaint_.empty() ? why : complaint_);
  stop_timer();
  boost::system::error_code ignored;
  socket_.cancel(ignored);
  end_all(client::CODE_UNAVAILABLE, broken_);
}

void Connection::answer_silence(std::uint64_t id) {
  answer(id, client::CODE_UNAVAILABLE, "the daemon at " + path_ + " does not answer: is it stopped?");
}

void Connection::answer(std::uint64_t id, client::Code code, const std::string& sentence) {
  forget_response();
  response_.Clear();
  response_.set_id(id);
  response_.mutable_status()->set_code(code);
  response_.mutable_status()->set_sentence(sentence);
}

void Connection::end_all(client::Code code, const std::string& sentence) {
  while (!pending_.empty()) {
    answer(pending_.begin()->first, code, sentence);
    dispatch();
  }
}

}  // namespace fibocast
