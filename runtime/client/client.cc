#include "runtime/client/client.h"

#include <cstdlib>

#include "collectives/schedule.h"
#include "runtime/client/connection.h"
#include "runtime/client/direct_group.h"
#include "runtime/client/peer_process.h"
#include "runtime/client/text.h"
#include "runtime/client/translate.h"
#include "runtime/node/node.h"
#include "runtime/wire/client_codec.h"
#include "runtime/wire/client_status.h"

namespace fibocast {
namespace {

constexpr std::chrono::seconds kGreetingPatience{10};
constexpr std::chrono::nanoseconds kGroupPatience{NodeSettings{}.group_patience};  // all daemons have this one
constexpr Duration kLongest = std::chrono::hours(24 * 365);                        // no overflow when added to the time

using TimePoint = Connection::Clock::time_point;

std::string socket_path_of(const Client::Options& options) {
  if (!options.socket_path.empty()) return options.socket_path;
  const char* path = std::getenv("FIBOCAST_SOCKET");
  return path ? path : "";
}

// The daemon would close the connection in the midst of the frame: it is not sent, and the daemon's sentence is said.
Status too_large(const std::string& about) {
  client::Status status;
  describe_admission(about, Admission::kTooLarge, status);
  return {Code::kInvalid, status.sentence(), {}};
}

Status too_large(const OperationCall& call) {
  std::string about = std::string(operation_name(call.operation)) + " '" + std::string(call.group) + "'";
  if (call.options != nullptr && !call.options->label.empty()) about += " (label '" + call.options->label + "')";
  return too_large(about);
}

Outcome refused(Status why) {
  Outcome outcome;
  outcome.status = std::move(why);
  return outcome;
}

Status too_large(const SendCall& call) { return too_large("message to rank " + std::to_string(call.to)); }

}  // namespace

struct Client::State {
  std::unique_ptr<boost::asio::io_context> own_context;
  boost::asio::any_io_executor executor;
  std::shared_ptr<Connection> connection;
  client::Request request;  // reused: a steady stream of operations takes no memory for it
  NodeId rank = 0;
  std::uint32_t size = 0;
  Duration patience{};
  Duration default_deadline{};      // zero: the daemon did not tell it
  std::uint64_t payload_limit = 0;  // the same

  TimePoint answer_by(Duration deadline) const;
  bool is_too_large(std::size_t bytes) const { return payload_limit > 0 && bytes > payload_limit; }
  // With a payload of the caller's, where the request has one.
  Connection::Answer exchange(Duration deadline, std::span<const std::byte> payload = {}) {
    return connection->exchange(request, payload, answer_by(deadline));
  }
  client::Response const& greet(const Options& options);
};

TimePoint Client::State::answer_by(Duration deadline) const {
  if (deadline.count() <= 0) deadline = default_deadline;
  if (deadline.count() <= 0) return TimePoint::max();
  return Connection::Clock::now() + std::min(deadline, kLongest) + std::min(patience, kLongest);
}

const client::Response& Client::State::greet(const Options& options) {
  client::Hello& hello = *request.mutable_hello();
  hello.set_major(kClientMajor);
  hello.set_minor(kClientMinor);
  hello.set_program(options.program);
  if (options.node) hello.set_node(*options.node);
  hello.set_status_only(options.status_only);
  return connection->exchange(request, {}, Connection::Clock::now() + kGreetingPatience).response;
}

Result<std::shared_ptr<Client>> Client::connect(const std::string& socket_path) {
  Options options;
  options.socket_path = socket_path;
  return connect(options);
}

Result<std::shared_ptr<Client>> Client::connect(const Options& options) {
  const std::string path = socket_path_of(options);
  if (path.empty()) return Status{Code::kInvalid, "no socket is known: give its path or set FIBOCAST_SOCKET", {}};
  auto state = std::make_unique<State>();
  if (!options.executor) state->own_context = std::make_unique<boost::asio::io_context>(1);
  state->executor = options.executor ? *options.executor : state->own_context->get_executor();
  auto connection = Connection::open(path, state->executor);
  if (!connection.ok()) return connection.status();
  state->connection = *connection;
  const client::Response& response = state->greet(options);
  if (response.status().code() != client::CODE_OK) return decode_status(response);
  if (options.node && response.welcome().rank() != *options.node)
    return Status{
        Code::kRefused, "the daemon at " + path + " passes nothing on to others; start one of this version", {}};
  state->rank = response.welcome().rank();
  state->size = response.welcome().size();
  state->patience = options.patience;
  state->payload_limit = response.welcome().payload_limit();
  state->default_deadline = Duration(response.welcome().default_deadline_ns());
  return std::shared_ptr<Client>(new Client(std::move(state)));
}

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::~Client() { state_->connection->close(); }

NodeId Client::rank() const { return state_->rank; }
std::uint32_t Client::size() const { return state_->size; }
std::uint64_t Client::payload_limit() const { return state_->payload_limit; }
Duration Client::default_deadline() const { return state_->default_deadline; }
boost::asio::any_io_executor Client::executor() { return state_->executor; }
boost::asio::io_context& Client::io_context() { return *state_->own_context; }

Result<NodeInfo> Client::status() {
  state_->request.mutable_get_status();
  return decode_node_info(state_->exchange(kGreetingPatience).response);
}

Result<NodeTrace> Client::trace() {
  NodeTrace trace;
  for (std::uint64_t next = 0, end = 1; next < end;) {
    state_->request.mutable_get_trace()->set_first(next);
    const client::Response& response = state_->exchange(kGreetingPatience).response;
    if (const Status status = decode_status(response); !status.ok()) return status;
    const std::uint64_t taken = append_trace(response.trace(), trace);
    if (next == 0) trace.first = response.trace().first(), end = response.trace().recorded();
    if (taken == 0) break;
    next = response.trace().first() + taken;
  }
  return trace;
}

Result<ClockReading> Client::clock() {
  state_->request.mutable_get_clock();
  const client::Response& response = state_->exchange(kGreetingPatience).response;
  if (const Status status = decode_status(response); !status.ok()) return status;
  return ClockReading{response.clock().now_ns(), response.clock().id()};
}

Status Client::set_model(const NodeModel& model) {
  encode(model, *state_->request.mutable_set_model());
  return decode_status(state_->exchange(kGreetingPatience).response);
}

Status Client::reload_keys() {
  state_->request.mutable_reload_keys();
  return decode_status(state_->exchange(kGreetingPatience).response);
}

Status Client::drain() {
  state_->request.mutable_drain();
  const TimePoint until = Connection::Clock::now() + kGreetingPatience;
  const PeerProcess daemon(state_->connection->descriptor());
  const Status asked = decode_status(state_->connection->exchange(state_->request, {}, until).response);
  if (!asked.ok()) return asked;
  if (state_->connection->wait_for_end(until) && daemon.wait_for_end(until)) return {};
  return {Code::kUnavailable, "the daemon was told to leave, but it does not end: look at its log, or kill it", {}};
}

Status Client::do_create_group(const GroupRequest& group) {
  encode(group, *state_->request.mutable_create_group());
  return decode_status(state_->exchange(kGroupPatience).response);
}

Status Client::plan_group(const GroupRequest& group) {
  if (Status status = check_group_name(group.name); !status.ok()) return status;
  encode(group, *state_->request.mutable_plan_group());
  return decode_status(state_->exchange(kGroupPatience).response);
}

Status Client::remove_group(std::string_view name) {
  if (Status status = check_group_name(name); !status.ok()) return status;
  state_->request.mutable_remove_group()->set_name(std::string(name));
  return decode_status(state_->exchange(kGreetingPatience).response);
}

Result<GroupInfo> Client::do_open(std::string_view name, std::uint32_t participants) {
  client::OpenGroup& open = *state_->request.mutable_open_group();
  open.set_name(std::string(name));
  open.set_participants(participants);
  return decode_group(state_->exchange(kGreetingPatience).response);
}

Result<Group> Client::open_direct(std::string_view name, const DirectOptions& options) {
  auto group = open(name);
  return group.ok() ? make_direct_group(*this, std::move(*group), options) : group;
}

Outcome Client::do_operate(const OperationCall& call) {
  if (state_->is_too_large(call.payload.size())) return refused(too_large(call));
  encode(call, *state_->request.mutable_operate());
  const Connection::Answer answer = state_->exchange(call.deadline, call.payload);
  return decode_outcome(answer.response, answer.payload, call.into);
}

void Client::start_operate(const OperationCall& call, Completion<Outcome> done) {
  if (state_->is_too_large(call.payload.size())) return done(refused(too_large(call)));
  encode(call, *state_->request.mutable_operate());
  state_->connection->start(state_->request, call.payload, {{}, std::move(done), {}}, state_->answer_by(call.deadline));
}

Status Client::do_send(const SendCall& call) {
  if (state_->is_too_large(call.bytes.size())) return too_large(call);
  encode(call, *state_->request.mutable_send());
  return decode_status(state_->exchange(call.deadline, call.bytes).response);
}

void Client::start_send(const SendCall& call, Completion<Status> done) {
  if (state_->is_too_large(call.bytes.size())) return done(too_large(call));
  encode(call, *state_->request.mutable_send());
  state_->connection->start(state_->request, call.bytes, {std::move(done), {}, {}}, state_->answer_by(call.deadline));
}

Received Client::do_receive(std::uint64_t tag, Duration deadline) {
  state_->request.mutable_receive()->set_tag(tag);
  state_->request.mutable_receive()->set_deadline_ns(deadline.count());
  const Connection::Answer answer = state_->exchange(deadline);
  return decode_received(answer.response, answer.payload);
}

void Client::start_receive(std::uint64_t tag, Duration deadline, Completion<Received> done) {
  state_->request.mutable_receive()->set_tag(tag);
  state_->request.mutable_receive()->set_deadline_ns(deadline.count());
  state_->connection->start(state_->request, {}, {{}, {}, std::move(done)}, state_->answer_by(deadline));
}

}  // namespace fibocast
