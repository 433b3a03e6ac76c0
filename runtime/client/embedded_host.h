// The node's side of an EmbeddedNode: everything here happens in the one thread that runs the NodeHost. Requests come
// in whole, each is answered exactly once. Internal.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <boost/container/flat_map.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/client/participant.h"
#include "runtime/daemon/group_planner.h"
#include "runtime/daemon/node_host.h"

namespace fibocast {

struct EmbeddedRequest {
  enum class Kind : std::uint8_t { kOperate, kSend, kReceive, kCreate, kPlan };
  // How it ended: for kSend, kCreate and kPlan only the status counts; kReceive has its bytes in Outcome::payload.
  using OnEnd = std::function<void(Outcome&& outcome, Rank from)>;

  Kind kind = Kind::kOperate;
  std::string group;
  Operation operation = Operation::kBarrier;
  AlgorithmChoice choice;
  Combination combination;
  Rank root = 0;
  std::uint64_t total_bytes = 0;  // conquer
  std::uint32_t participants = 0;
  OperationOptions options;
  NodeId to = 0;
  std::uint64_t tag = 0;
  bool try_only = false;
  std::unique_ptr<GroupRequest> create;  // kCreate, kPlan
  std::vector<std::byte> owned;          // an asynchronous caller's bytes
  std::span<const std::byte> payload;    // `owned`, or what a blocking caller keeps until the end
  std::span<std::byte> into;             // as in OperationCall
  BufferId received_in = kNoBuffer;      // the last buffer that was to lie there
  BufferId sent_from = kNoBuffer;        // the buffer that `payload` is copied to while it is sent
  Duration deadline{0};
  OnEnd on_end;

  Nanoseconds until = kNever;  // absolute; set when it is taken up
};

class EmbeddedHost {
 public:
  EmbeddedHost(boost::asio::io_context& context, Transport& transport, const Limits& limits,
               const NodeSettings& settings, Nanoseconds default_deadline, const GroupPlanner& planner);
  void start() { host_.start(); }
  void stop() { host_.stop(); }  // from any thread

  void take(std::unique_ptr<EmbeddedRequest> request);
  Result<GroupInfo> open(std::string_view name, std::uint32_t participants);
  Status remove_group(std::string_view name);
  // Ends all that is under way with kCancelled.
  void cancel_all();
  NodeHost& host() { return host_; }

 private:
  using Request = std::unique_ptr<EmbeddedRequest>;
  struct Opened {
    GroupId id = 0;
    Generation next = 0;
    bool is_behind = false;  // its numbers are not those of the group any more: it was cut off, or came too late
  };

  Admission give_to_node(EmbeddedRequest& request, std::uint64_t cookie);
  Admission operate(EmbeddedRequest& request, std::uint64_t cookie);
  Admission find_group(const EmbeddedRequest& request, Call& call, Opened*& opened);
  void pass(const EmbeddedRequest& request);
  bool is_overtaking(const EmbeddedRequest& request) const;
  Admission send(EmbeddedRequest& request);
  Admission create(EmbeddedRequest& request, std::uint64_t cookie);
  Admission plan(EmbeddedRequest& request, std::uint64_t cookie);
  bool attempt(Request& request);
  bool retry_waiting();
  Admission stage(EmbeddedRequest& request, PayloadRange& staged);

  std::span<std::byte> place_of(std::uint64_t cookie, BufferId buffer, std::size_t bytes);
  void on_call_done(const Event& event);
  void on_event(const Event& event);
  Request take_pending(std::uint64_t cookie);
  std::vector<std::byte> take_bytes(const PayloadRange& range);
  void take_result(const PayloadRange& range, const EmbeddedRequest& request, Outcome& outcome);
  void end_pending(EmbeddedRequest& request, Outcome&& outcome);
  void arm_timer();
  void on_timer();

  Nanoseconds default_deadline_;
  GroupPlanner planner_;  // of groups that are created without a tree
  std::map<std::string, Opened, std::less<>> opened_;
  boost::container::flat_map<std::uint64_t, Request> pending_;  // taken by the node, by cookie
  std::deque<Request> waiting_;                                 // for room in the node, in order
  std::uint64_t next_cookie_ = 1;
  NodeHost host_;
  boost::asio::steady_timer timer_;  // of receives and of what waits for room
  Nanoseconds armed_for_ = kNever;
};

}  // namespace fibocast
