#include "runtime/daemon/session.h"

#include <poll.h>

#include <algorithm>
#include <boost/asio/write.hpp>
#include <chrono>
#include <utility>

#include "runtime/daemon/group_messages.h"
#include "runtime/wire/client_codec.h"
#include "runtime/wire/client_status.h"

namespace fibocast {

namespace {

constexpr std::size_t kKeptBytes = (1 << 20) + kFrameSlack;  // of the memory for requests, between two of them

std::uint32_t newest_client(const SessionContext& context) {
  return static_cast<std::uint32_t>(context.counters.accepted);
}

// The other end of the connection is closed, and not only its sending half.
bool has_hung_up(int socket) {
  pollfd end{socket, 0, 0};
  return poll(&end, 1, 0) == 1 && (end.revents & (POLLHUP | POLLERR)) != 0;
}

}  // namespace

Session::Session(Socket socket, SessionContext& context, std::uint32_t place, Peer peer)
    : socket_(std::move(socket)),
      context_(context),
      place_(place),
      number_(newest_client(context)),
      peer_(peer),
      received_(context.payload_limit, kKeptBytes),
      responses_(context.host),
      timer_(socket_.get_executor()) {}

Session::~Session() = default;

void Session::start() {
  if (is_spare()) arm_timer(monotonic_now() + context_.spare_patience);
  read_more();
}

// -- reading

void Session::progress() {
  handle_frames();
  write_more();
  read_more();
}

void Session::handle_frames() {
  std::span<const std::byte> frame;
  while (!closed_ && !closing_ && !blocked_ && !is_full()) {
    const FrameBuffer::Next next = received_.next(frame);
    if (next == FrameBuffer::Next::kMore) return;
    if (next == FrameBuffer::Next::kGarbage) return reject_garbage("a frame of impossible length");
    if (!parse_request(frame, request_, payload_)) return reject_garbage("a frame that is no request");
    if (dispatch() == Handled::kDone) received_.consume();
  }
}

void Session::read_more() {
  if (closed_ || closing_ || reading_) return;
  if (blocked_ || is_full()) return watch_end();
  const std::span<std::byte> room = received_.prepare();
  reading_ = true;
  socket_.async_read_some(
      boost::asio::buffer(room.data(), room.size()),
      kept_in(read_memory_, [self = shared_from_this()](const boost::system::error_code& error, std::size_t bytes) {
        self->on_read(error, bytes);
      }));
}

// While nothing is read, the death of the client is noticed all the same: what it has called is then to be given up.
void Session::watch_end() {
  if (watching_) return;
  if (has_hung_up(socket_.native_handle())) return close();
  watching_ = true;
  socket_.async_wait(Socket::wait_error, kept_in(watch_memory_, [self = shared_from_this()](const auto& error) {
                       self->watching_ = false;
                       if (error || self->closed_ || self->reading_) return;  // reading finds the end by itself
                       self->context_.host.read_clock();
                       self->read_more();
                       self->context_.host.pump();
                     }));
}

void Session::on_read(const boost::system::error_code& error, std::size_t bytes) {
  reading_ = false;
  if (closed_) return;
  context_.host.read_clock();
  if (error) {
    close();
  } else {
    received_.commit(bytes);
    progress();
  }
  context_.host.pump();
}

void Session::reject_garbage(std::string_view what) {
  ++context_.counters.garbage;
  answer(request_.id(), client::CODE_INVALID,
         std::string("this daemon received ") + std::string(what) +
             "; the connection is closed: use a client of this version");
  closing_ = true;
  write_more();
}

// -- writing

void Session::write_more() {
  if (closed_ || responses_.writing()) return;
  if (responses_.empty()) {
    if (closing_ && !stays_) close();
    return;
  }
  boost::asio::async_write(
      socket_, responses_.begin_batch(),
      kept_in(write_memory_, [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
        if (self->closed_) return;
        self->context_.host.read_clock();
        self->responses_.end_batch();
        if (error)
          self->close();
        else
          self->progress();
        self->context_.host.pump();
      }));
}

client::Response& Session::begin_response(std::uint64_t id) {
  context_.response.set_id(id);
  context_.response.mutable_status()->Clear();
  context_.response.clear_body();
  return context_.response;
}

void Session::send_response(const PayloadRange& payload) { responses_.add(context_.response, payload); }

void Session::answer(std::uint64_t id, client::Code code, std::string_view sentence) {
  set_status(code, sentence, *begin_response(id).mutable_status());
  send_response();
}

void Session::answer(std::uint64_t id, std::string_view about, Admission admission) {
  describe_admission(about, admission, *begin_response(id).mutable_status());
  send_response();
}

// -- calls, for the metrics

// It may have waited for room before it was taken.
void Session::count_call(PendingRequest& request, const Call& call) {
  request.asked = {.group = call.group,
                   .operation = call.operation,
                   .choice = call.choice,
                   .type = call.type,
                   .op = call.op,
                   .bytes = std::max(call.total_bytes, call.payload.length),
                   .called_at = std::max(call.deadline - request.waited, call.not_before)};
  context_.metrics->on_call(node());
}

// -- from the node

bool Session::on_call_done(const Event& event) {
  const CallDone& done = event.done;
  PendingRequest* request = requests_.find(done.cookie);
  if (!request) return false;
  client::Response& response = context_.response;  // not begun anew: the last outcome's memory is used again
  response.set_id(request->id);
  OpenedGroup* opened = find_opened(request->group);
  if (opened && went_on_without(node(), opened->id, done.verdict)) opened->is_behind = true;
  describe_call({request->operation, request->group, request->label, request->waited, event.label.view()}, done,
                *response.mutable_status());
  name_refused(node(), request->group, done, *response.mutable_status());
  client::Outcome& outcome = *response.mutable_outcome();
  outcome.Clear();
  outcome.set_generation(done.generation);
  outcome.set_arrived_at_ns(done.arrived_at);
  outcome.set_activated_at_ns(done.activated_at);
  outcome.set_first_send_at_ns(done.first_send_at);
  outcome.set_lateness_ns(done.lateness);
  if (done.straggler.rank != kNoRank) {
    outcome.set_straggler(done.straggler.rank);
    outcome.set_straggler_late_ns(done.straggler.late_by);
  }
  if (context_.metrics) context_.metrics->on_done(node(), request->asked, done, context_.host.now());
  requests_.free(*request);
  send_response(done.payload);
  progress();
  return true;
}

bool Session::on_message(const Event& event) {
  PendingRequest* request = requests_.find(event.cookie);
  if (!request) return false;
  client::Message& message = *begin_response(request->id).mutable_message();
  message.set_rank(event.peer);
  message.set_tag(event.tag);
  requests_.free(*request);
  send_response(event.range);
  progress();
  return true;
}

// -- waiting for room, and time

void Session::block(Nanoseconds deadline) {
  if (!blocked_) ++context_.blocked;
  blocked_ = true;
  blocked_until_ = deadline;
  arm_timer(deadline);
}

void Session::unblock() {
  if (blocked_) --context_.blocked;
  blocked_ = false;
}

// True: some left. The others of the group wait for them, so none is forgotten while the client is here. One that finds
// no room keeps those of its group in order, not those of another.
bool Session::pass_owed() {
  std::vector<GroupId> full;
  const std::size_t owed = owed_passes_.size();
  for (auto at = owed_passes_.begin(); at != owed_passes_.end();) {
    const bool waits = std::ranges::find(full, at->group) != full.end();
    if (!waits && node().pass(*at, context_.host.now()) != Admission::kWouldBlock) {
      at = owed_passes_.erase(at);
      continue;
    }
    if (!waits) full.push_back(at->group);
    ++at;
  }
  const std::size_t passed = owed - owed_passes_.size();
  context_.blocked -= static_cast<std::uint32_t>(passed);
  return passed > 0;
}

bool Session::retry() {
  const bool passed = pass_owed();
  const bool taken = blocked_ && dispatch() == Handled::kDone;
  if (taken) unblock(), received_.consume();
  if (passed || taken) progress();
  return passed || taken;
}

void Session::arm_timer(Nanoseconds deadline) {
  if (deadline >= armed_for_) return;
  armed_for_ = deadline;
  timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline)));
  timer_.async_wait(kept_in(timer_memory_, [self = shared_from_this()](const boost::system::error_code& error) {
    if (!error && !self->closed_) self->on_timer();
  }));
}

void Session::on_timer() {
  if (is_spare()) return close();  // it calls nothing that has a time
  armed_for_ = kNever;
  const Nanoseconds now = context_.host.read_clock();
  Nanoseconds next = kNever;
  requests_.for_each([&](PendingRequest& request) {
    if (request.kind != PendingRequest::Kind::kReceive) return;
    if (request.deadline > now) return void(next = std::min(next, request.deadline));
    if (!node().forget_receive(request.cookie)) return;  // answered this very moment: the message is on its way
    answer(request.id, client::CODE_DEADLINE_EXCEEDED,
           "receive: no message with this tag before the deadline; see whether its sender runs, or wait longer");
    requests_.free(request);
  });
  if (blocked_ && blocked_until_ <= now) {
    answer(request_.id(), client::CODE_DEADLINE_EXCEEDED,
           blocked_about_ +
               ": no room in this daemon before the deadline; the receivers are slow: wait longer or send less");
    drop_staged();
    if (request_.has_operate()) pass_operation();
    unblock();
    received_.consume();
  } else if (blocked_) {
    next = std::min(next, blocked_until_);
  }
  arm_timer(next);
  progress();
  context_.host.pump();
}

// -- the end

void Session::cancel_all(std::string_view why) {
  requests_.for_each([&](PendingRequest& request) {
    if (request.kind == PendingRequest::Kind::kCall) node().forget_call(request.cookie);
    if (request.kind == PendingRequest::Kind::kReceive) node().forget_receive(request.cookie);
    answer(request.id, client::CODE_CANCELLED, why);
    requests_.free(request);
  });
  if (blocked_) answer(request_.id(), client::CODE_CANCELLED, why);
  drop_staged();
  unblock();
  closing_ = true;
  write_more();
}

void Session::close() {
  if (closed_) return;
  closed_ = true;
  requests_.for_each([&](PendingRequest& request) {
    if (request.kind == PendingRequest::Kind::kCall)
      node().abandon_call(request.cookie, request.label, newest_client(context_), context_.host.now());
    if (request.kind == PendingRequest::Kind::kReceive) node().forget_receive(request.cookie);
    requests_.free(request);
  });
  drop_staged();
  unblock();
  context_.blocked -= static_cast<std::uint32_t>(owed_passes_.size());
  owed_passes_.clear();
  responses_.clear();
  boost::system::error_code ignored;
  socket_.close(ignored);
  timer_.cancel();
  context_.on_closed(place_);
}

}  // namespace fibocast
