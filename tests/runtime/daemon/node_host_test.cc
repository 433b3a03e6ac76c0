#include "runtime/daemon/node_host.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>

#include "transport/loopback_transport.h"

namespace fibocast {
namespace {

NodeSettings alone() {
  NodeSettings settings;
  settings.nodes = 1;
  return settings;
}

// What has come after a wait is for the next one: who looks in between takes it from where its place will be known.
TEST(NodeHost, WhoHasWaitedNeedNotCatchUp) {
  boost::asio::io_context io;
  LoopbackHub hub(io);
  LoopbackTransport transport(hub, 0);
  NodeHost host(io, transport, Limits::simulated(), alone(), WaitPolicy::kPoll, {});
  host.start();
  int came = 0;
  const auto come = [&] { boost::asio::post(io, [&] { ++came; }); };
  come();
  host.catch_up();
  EXPECT_EQ(came, 1) << "nobody has waited";
  come();
  host.run_while([&] { return came < 2; });
  come();
  host.catch_up();
  EXPECT_EQ(came, 2);
  host.catch_up();
  EXPECT_EQ(came, 3) << "nobody has waited since";
  host.stop();
  io.poll();
  io.restart();
  io.poll();  // the handler of its alarm lies in the host
}

}  // namespace
}  // namespace fibocast
