// Some daemons in this process, each in its own thread, on a loopback address of this process and sockets in a
// folder of its own; and a raw client of the local protocol, which can also misbehave.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/daemon/daemon.h"
#include "runtime/wire/client.pb.h"

namespace fibocast {

// host:port of this process alone, free at this moment.
std::string free_address();

// Speaks client.proto over the socket, blocking. Requests are numbered 1, 2, ...
class RawClient {
 public:
  explicit RawClient(const std::string& socket, bool greet = true);
  ~RawClient();

  std::uint64_t send(client::Request request);
  void send_bytes(const std::string& bytes);
  client::Response receive();                  // the next response, whichever
  client::Response receive(std::uint64_t id);  // keeps others for later
  client::Response call(client::Request request) { return receive(send(std::move(request))); }
  bool closed_by_daemon();  // waits for the end of the stream
  void close();

  client::Response open_group(const std::string& name, std::uint32_t participants = 0);
  std::uint64_t start_barrier(const std::string& group, std::int64_t deadline_ms = 20'000);
  client::Response barrier(const std::string& group) { return receive(start_barrier(group)); }
  client::NodeStatus status();

 private:
  int socket_;
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, client::Response> kept_;
};

class ClusterTest : public ::testing::Test {
 protected:
  ClusterTest();
  ~ClusterTest() override;

  // The settings of `nodes` daemons; to be changed before start_all().
  void plan_cluster(std::uint32_t nodes);
  void start(NodeId rank);
  void stop(NodeId rank);
  void start_all();
  // Both.
  void start_cluster(std::uint32_t nodes) {
    plan_cluster(nodes);
    start_all();
  }
  void wait_connected();  // until every running daemon has all others
  const std::string& socket(NodeId rank) const { return settings_[rank].node.socket; }

  std::filesystem::path folder_;
  std::vector<Settings> settings_;
  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::vector<std::thread> threads_;
};

}  // namespace fibocast
