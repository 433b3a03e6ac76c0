// One local client at the daemon's socket: reads its requests, gives them to the node as commands and answers each
// exactly once. Bounded: at most RequestTable::kPlaces requests under way and so many answers unread; beyond that,
// and while the node has no room for the next command, the session does not read (the socket fills: back-pressure).
#pragma once

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/daemon/group_planner.h"
#include "runtime/daemon/handler_memory.h"
#include "runtime/daemon/metrics/operation_metrics.h"
#include "runtime/daemon/node_host.h"
#include "runtime/daemon/request_table.h"
#include "runtime/daemon/response_queue.h"
#include "runtime/wire/client.pb.h"
#include "runtime/wire/frame_buffer.h"

namespace fibocast {

struct SessionCounters {
  std::uint64_t accepted = 0;
  std::uint64_t strangers = 0;    // connections of users who are not of the daemon's group
  std::uint64_t garbage = 0;      // clients closed because they sent something that is no request
  std::uint64_t turned_away = 0;  // clients beyond the limit
};

// What all sessions share.
struct SessionContext {
  NodeHost& host;
  std::string cluster;
  NodeId rank = 0;
  std::uint32_t nodes = 1;
  std::uint64_t payload_limit = 0;  // bytes
  Nanoseconds default_deadline = 30'000'000'000;
  GroupPlanner planner;                                                // of groups that are created without a tree
  std::string clock_id = {};                                           // host_clock_id()
  std::function<std::string(const client::SetModel&)> set_model = {};  // the mistake, or empty
  std::function<std::string()> reload_keys = {};                       // the mistake, or empty
  std::function<void()> drain = {};                                    // soon, not within this call
  std::function<void(client::NodeStatus&)> fill_status;
  std::function<void(std::uint64_t first, client::Trace&)> fill_trace;
  std::function<void(std::uint32_t place)> on_closed;
  Nanoseconds spare_patience = 10'000'000'000;  // so long is a spare place held: SessionServer::kSparePlaces
  // Relays::open(), which see.
  std::function<bool(boost::asio::local::stream_protocol::socket&, NodeId, std::span<const std::byte>)> relay;
  OperationMetrics* metrics = nullptr;  // null: nobody asks
  SessionCounters counters;
  std::uint64_t next_stamp = 1;
  std::uint32_t blocked = 0;  // requests and passes of sessions that wait for room in the node
  client::Response response;  // the one being made
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  using Socket = boost::asio::local::stream_protocol::socket;
  static constexpr int kPlaceShift = 6;  // cookies: stamp, session's place, request's place (RequestTable)
  static constexpr int kStampShift = 16;

  // kOwner: root or the daemon's own user, on this host.
  enum class Peer : std::uint8_t { kOwner, kOther };

  Session(Socket socket, SessionContext& context, std::uint32_t place, Peer peer);
  ~Session();
  void start();

  // -- from the node; false: not ours any more
  bool on_call_done(const Event& event);
  bool on_message(const Event& event);
  bool on_group_ready(const Event& event);
  // There may be room now: tries again what had to wait. True if a command was given.
  bool retry();

  // Answers everything under way with CODE_CANCELLED; what is written is still delivered.
  void cancel_all(std::string_view why);
  bool all_written() const { return responses_.empty(); }
  void close();

 private:
  struct OpenedGroup {
    std::string name;
    GroupId id = 0;
    Generation next = 0;
    std::uint32_t definition = 0;  // the group that they are numbers of
    bool is_behind = false;        // its numbers are not those of the group any more: it was cut off, or came too late
  };
  enum class Handled : std::uint8_t { kDone, kBlocked };  // kBlocked: no room in the node just now

  // -- session.cc: reading, writing, time
  void progress();
  void handle_frames();
  void read_more();
  void watch_end();
  void on_read(const boost::system::error_code& error, std::size_t bytes);
  void write_more();
  void reject_garbage(std::string_view what);
  void block(Nanoseconds deadline);
  void unblock();
  bool pass_owed();
  void arm_timer(Nanoseconds deadline);
  void on_timer();

  void count_call(PendingRequest& request, const Call& call);

  // -- answers: to the request with this id
  client::Response& begin_response(std::uint64_t id);
  void send_response(const PayloadRange& payload = {});
  void answer(std::uint64_t id, client::Code code, std::string_view sentence);
  void answer(std::uint64_t id, std::string_view about, Admission admission);

  // -- session_requests.cc: one function per request
  Handled dispatch();
  Handled hello();
  Handled relay_to(NodeId node);
  Handled open_group();
  Handled create_group();
  Handled plan_group();
  Handled remove_group();
  Handled operate();
  void pass_operation();
  Handled send();
  Handled receive();
  Handled get_status();
  Handled get_trace();
  Handled get_clock();
  Handled set_model();
  Handled reload_keys();
  Handled drain();
  Handled cancel();
  Admission find_group(const client::Operate& operate, Call& call, OpenedGroup*& opened);
  Admission stage_payload();
  void drop_staged();
  bool is_spare() const;
  bool is_full() const { return requests_.full() || responses_.full() || owed_passes_.size() >= RequestTable::kPlaces; }
  Handled refuse(std::string_view about, Admission admission);
  Handled wait_for_room(std::string_view about, Nanoseconds deadline_ns, bool try_only);
  Nanoseconds wait_time(Nanoseconds deadline_ns) const;
  PendingRequest& take(PendingRequest::Kind kind);
  OpenedGroup* find_opened(std::string_view name);
  Node& node() { return context_.host.node(); }

  Socket socket_;
  SessionContext& context_;
  const std::uint32_t place_;
  const std::uint32_t number_;  // in the order in which clients came
  const Peer peer_;
  bool greeted_ = false;
  bool status_only_ = false;  // as it said in its Hello
  bool reading_ = false;
  bool watching_ = false;
  bool closed_ = false;
  bool closing_ = false;  // after the last answer
  bool stays_ = false;    // ... or with the daemon, which this client has told to end
  FrameBuffer received_;
  ResponseQueue responses_;
  RequestTable requests_;
  std::vector<OpenedGroup> groups_;
  client::Request request_;             // the one being handled; its memory is used again
  std::span<const std::byte> payload_;  // of request_, in received_
  PayloadRange staged_;                 // of request_, copied into the node's buffer
  std::vector<Call> owed_passes_;       // calls that have ended: there was no room for their passing either
  bool blocked_ = false;
  Nanoseconds blocked_until_ = kNever;
  std::string blocked_about_;
  boost::asio::steady_timer timer_;
  Nanoseconds armed_for_ = kNever;
  HandlerMemory read_memory_, write_memory_, timer_memory_, watch_memory_;
};

}  // namespace fibocast
