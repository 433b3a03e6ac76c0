// The library of an application that talks to the daemon of its host.
//
//   auto client = fibocast::Client::connect();                    // FIBOCAST_SOCKET
//   auto group = client.value()->open("all");
//   auto outcome = group.value().barrier(std::chrono::seconds(5));
//   if (!outcome.ok()) std::cerr << outcome.status.sentence << '\n';
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>

#include "runtime/client/clock_offset.h"
#include "runtime/client/group.h"
#include "runtime/client/node_model.h"
#include "runtime/client/node_trace.h"

namespace fibocast {

// One connection to a daemon, and one participant of every group it opens.
//
// Thread rule: one thread at a time. Blocking calls need no event loop: they read the socket in the calling thread.
// Handlers of the asynchronous calls run where the executor runs; with an executor of your own, make all calls from
// it (or while it is not running), else run io_context() yourself.
class Client final : public Participant {
 public:
  struct Options {
    std::string socket_path;                               // empty: the environment variable FIBOCAST_SOCKET
    std::optional<boost::asio::any_io_executor> executor;  // none: the client's own io_context()
    std::string program = "application";                   // for the daemon's log
    std::optional<NodeId> node = {};  // the daemon that is meant, reached through the one at the socket; none: that one
    // Only status() will be called: there is a place for such a client where applications have all 256. Held for 10 s
    // at most then; with other calls kInvalid.
    bool status_only = false;
    // A daemon that is alive answers by the deadline plus a few suspicion times. So long after the deadline a call
    // takes it for stopped (an asynchronous one while the executor runs) and ends with kUnavailable.
    Duration patience = std::chrono::seconds(60);
  };
  // Connects and greets. kUnavailable: nobody listens there; kRefused: the daemon speaks another version;
  // kInvalid: no path is known.
  static Result<std::shared_ptr<Client>> connect(const std::string& socket_path = {});
  static Result<std::shared_ptr<Client>> connect(const Options& options);
  // Calls under way end with kCancelled. Groups keep their client: it ends, and its connection, after the last of them.
  ~Client() override;

  NodeId rank() const override;
  std::uint32_t size() const override;
  // A request with more bytes is refused, here as by the daemon.
  std::uint64_t payload_limit() const;
  // Of calls that give none.
  Duration default_deadline() const;
  boost::asio::any_io_executor executor() override;
  Result<NodeInfo> status() override;
  // The daemon's last events, oldest first: they are read in pieces while the daemon goes on.
  Result<NodeTrace> trace();
  Status plan_group(const GroupRequest& request) override;
  Status remove_group(std::string_view name) override;

  struct DirectOptions {
    Duration deadline = {};  // for all members to have called; zero: the node's default
    // Where the others reach this process; empty: where they reach its daemon. Another container than the daemon's has
    // an address of its own.
    std::string host = {};
    std::string local = "auto";                                 // as in EmbeddedNode::Options
    std::optional<boost::asio::any_io_executor> executor = {};  // for handlers; none: the node's own thread
  };
  // As open(), but the group's operations pass no daemon: each participant starts a node of its own (EmbeddedNode), and
  // the daemons are only asked, once, for the addresses, for a key that these nodes alone have, and for the model. So
  // an operation costs what it costs between embedded nodes, and no death of an application or of a daemon harms the
  // other. Every member calls it, as its next operation in this group; it returns when all are connected. The ranks
  // and the policy are the group's. A lost participant cannot come back to such a group: call again, all of you.
  //
  // kInvalid: the group has routers, or several participants at a node. kRefused: the cluster goes over TCP, or
  // its daemons are of an earlier version. kPeerLost, kDeadlineExceeded: with the ranks that are gone, or have not
  // called. The participant behind it lives as long as the group and its copies do.
  Result<Group> open_direct(std::string_view name, const DirectOptions& options);
  Result<Group> open_direct(std::string_view name) { return open_direct(name, DirectOptions()); }

  // The daemon's clock, read while this call was under way.
  Result<ClockReading> clock();
  // Groups that are opened, created or planned at this daemon go by this model, until it ends.
  Status set_model(const NodeModel& model);
  // The daemon reads its key file again. kInvalid: it cannot use it, and the old keys stay.
  Status reload_keys();

  // The daemon leaves its cluster and ends, as at SIGTERM; returns when its process is gone, or where that cannot be
  // seen (it is in another container), when it has closed its last connection. kRefused: only root and the daemon's
  // user may ask for it, on its host. This client is of no use afterwards.
  Status drain();

  // Precondition: no executor was given to connect().
  boost::asio::io_context& io_context();

  Outcome do_operate(const OperationCall& call) override;
  void start_operate(const OperationCall& call, Completion<Outcome> done) override;

 protected:
  Status do_create_group(const GroupRequest& request) override;
  Result<GroupInfo> do_open(std::string_view name, std::uint32_t participants) override;
  Status do_send(const SendCall& call) override;
  void start_send(const SendCall& call, Completion<Status> done) override;
  Received do_receive(std::uint64_t tag, Duration deadline) override;
  void start_receive(std::uint64_t tag, Duration deadline, Completion<Received> done) override;

 private:
  struct State;
  explicit Client(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fibocast
