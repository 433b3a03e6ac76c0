// The node's side of an EmbeddedNode: everything here happens in the one thread that runs the NodeHost. Requests come
// in whole, each is answered exactly once. Nothing is allocated for the call of a blocking caller. Internal.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <boost/container/flat_map.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/client/participant.h"
#include "runtime/daemon/group_planner.h"
#include "runtime/daemon/node_host.h"
#include "runtime/daemon/relay_messages.h"

namespace fibocast {

struct EmbeddedRequest {
  enum class Kind : std::uint8_t { kOperate, kSend, kReceive, kCreate, kPlan };
  // How it ended: for kSend, kCreate and kPlan only the status counts; kReceive has its bytes in Outcome::payload.
  using OnEnd = std::function<void(Outcome&& outcome, Rank from)>;
  // What an asynchronous caller's call points to.
  struct Owned {
    std::string group;
    OperationOptions options;
    std::vector<std::byte> payload;
  };

  Kind kind = Kind::kOperate;
  bool try_only = false;                       // kSend
  OperationCall call = {};                     // kOperate; of kSend the payload, of all the deadline
  NodeId to = 0;                               // kSend
  std::uint64_t tag = 0;                       // kSend, kReceive
  const GroupRequest* create = nullptr;        // kCreate, kPlan
  BufferId received_in = kNoBuffer;            // the last buffer that was to lie where the call wants its result
  BufferId sent_from = kNoBuffer;              // the buffer that the payload is copied to while it is sent
  OnEnd on_end = {};                           // who waits is told once; then the request is not touched any more
  std::unique_ptr<Owned> owned = {};           // an asynchronous one's
  std::unique_ptr<EmbeddedRequest> self = {};  // ... which lives until its end; others are their callers'

  Nanoseconds until = kNever;  // absolute; set when it is taken up
};

class EmbeddedHost {
 public:
  EmbeddedHost(boost::asio::io_context& context, Transport& transport, const Limits& limits,
               const NodeSettings& settings, Nanoseconds default_deadline, const GroupPlanner& planner);
  void start() {
    host_.take_memory_of_work();
    host_.start();
    listen();
  }
  void stop() { host_.stop(); }  // from any thread

  // It stays where it is, with what it points to, until its on_end is called.
  void take(EmbeddedRequest& request);
  Result<GroupInfo> open(std::string_view name, std::uint32_t participants);
  Status remove_group(std::string_view name);
  // Ends all that is under way with kCancelled.
  void cancel_all();
  NodeHost& host() { return host_; }

 private:
  struct Opened {
    GroupId id = 0;
    Generation next = 0;
    std::uint32_t definition = 0;  // the group that they are numbers of
    bool is_behind = false;        // its numbers are not those of the group any more: it was cut off, or came too late
  };
  // Waits for room in the node. A call whose time was over has ended, but keeps its place: its number is to be passed.
  struct Waiting {
    EmbeddedRequest* request = nullptr;  // null: it has ended, and was
    std::string group = {};
    Operation operation = Operation::kBarrier;
    Rank root = 0;
  };

  Nanoseconds patience_of(const OperationCall& call) const {
    return call.deadline.count() > 0 ? call.deadline.count() : default_deadline_;
  }
  Admission give_to_node(EmbeddedRequest& request, std::uint64_t cookie);
  Admission operate(EmbeddedRequest& request, std::uint64_t cookie);
  Admission find_group(std::string_view group, std::uint32_t participants, Call& call, Opened*& opened);
  bool pass(const Waiting& ended);
  bool pass_ended();
  bool is_overtaking(const EmbeddedRequest& request) const;
  Admission send(EmbeddedRequest& request);
  Admission create(EmbeddedRequest& request, std::uint64_t cookie);
  Admission plan(EmbeddedRequest& request, std::uint64_t cookie);
  bool attempt(EmbeddedRequest& request);
  bool retry_waiting();
  Admission stage(EmbeddedRequest& request, PayloadRange& staged);

  std::span<std::byte> place_of(std::uint64_t cookie, BufferId buffer, std::size_t bytes);
  void on_call_done(const Event& event);
  void note_if_behind(std::string_view group, Verdict verdict);
  Status failure_of(const OperationCall& call, const Event& event);
  void on_event(const Event& event);
  void listen();
  bool on_hosts_message(const Event& event);
  bool on_drained();
  EmbeddedRequest* take_pending(std::uint64_t cookie);
  std::vector<std::byte> take_bytes(const PayloadRange& range);
  void take_result(const PayloadRange& range, const EmbeddedRequest& request, Outcome& outcome);
  void end_pending(EmbeddedRequest& request, Outcome&& outcome);
  void arm_timer();
  void end_waiting(Nanoseconds now, std::vector<EmbeddedRequest*>& late);
  void on_timer();

  Nanoseconds default_deadline_;
  const bool listens_;    // for what other hosts say to this one
  GroupPlanner planner_;  // of groups that are created without a tree
  std::map<std::string, Opened, std::less<>> opened_;
  boost::container::flat_map<std::uint64_t, EmbeddedRequest*> pending_;  // taken by the node, by cookie
  std::deque<Waiting> waiting_;                                          // in order
  std::uint64_t next_cookie_ = 1;
  NodeHost host_;
  RelayRefusals refusals_;  // of clients of daemons, who cannot be clients of this node
  bool listening_ = false;
  boost::asio::steady_timer timer_;  // of receives and of what waits for room
  Nanoseconds armed_for_ = kNever;
};

}  // namespace fibocast
