// A node of the cluster inside the application's own process: no daemon, no local socket between the two.
//
//   fibocast::EmbeddedNode::Options options;
//   options.rank = 0;
//   options.nodes = {"10.0.0.1:7117", "10.0.0.2:7117"};
//   auto node = fibocast::EmbeddedNode::start(options);
//   auto outcome = node.value()->open("all").value().barrier(std::chrono::seconds(5));
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/client/group.h"

namespace fibocast {

// To the other nodes it is a daemon like any other, with one participant. The node has a thread of its own; but while
// nothing asynchronous is under way, a blocking call drives the node from the calling thread, and for up to 8 ms after
// it nobody does (where many nodes share the processors, up to 64 ms): a program that makes one call after the other
// pays for no hand-over between threads.
//
// Thread rule: calls may come from any thread, except that handlers which run on the node's own executor must not
// make blocking calls (kInvalid) nor be the last to let go of the node. Calls of one group from several threads are
// numbered in the order they come in.
//
// The node ends with the last that holds it; its groups do.
class EmbeddedNode final : public Participant {
 public:
  struct Options {
    NodeId rank = 0;
    std::vector<std::string> nodes;  // host:port of every node; rank = position; the same on all
    std::string cluster = "fibocast";
    bool tcp = false;  // else UDP
    // Nodes of one host and user share memory: "auto", "off", or a folder; see cluster.local in REFERENCE.md.
    std::string local = "auto";
    // The cluster's key, as `fibocast key generate` makes it. Without one all nodes must be on this host, unless
    // `insecure`: then whoever reaches this node can read all and take part.
    std::string key_file;
    std::string key_text;  // what stands in such a file, instead of one: from a store of secrets, say
    bool insecure = false;
    // A UDP socket that is bound to this rank's port already: the node uses a copy of it, the caller closes its own
    // when start() has returned. -1: the node takes the port.
    int socket = -1;
    std::optional<NodeModel> model;  // what trees are optimal for; none: the default of [model] in REFERENCE.md
    Duration default_deadline = std::chrono::seconds(30);
    Limits limits = Limits::server();
    std::optional<boost::asio::any_io_executor> executor;  // for handlers; none: the node's own thread
  };
  // kInvalid with a sentence: settings that are wrong, or a port that is in use.
  static Result<std::shared_ptr<EmbeddedNode>> start(const Options& options);
  // Leaves the cluster: stays until its peers have what it sent (they may wait for it), at most half a second. Calls
  // under way end with kCancelled.
  ~EmbeddedNode() override;

  NodeId rank() const override;
  std::uint32_t size() const override;
  boost::asio::any_io_executor executor() override;
  Result<NodeInfo> status() override;
  Status plan_group(const GroupRequest& request) override;
  Status remove_group(std::string_view name) override;

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
  explicit EmbeddedNode(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fibocast
