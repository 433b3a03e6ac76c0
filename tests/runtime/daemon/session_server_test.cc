#include "runtime/daemon/session_server.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/no_descriptors.h"
#include "transport/loopback_transport.h"

namespace fibocast {
namespace {

TEST(SessionServer, RestsWhileItHasNoDescriptorsAndAcceptsThen) {
  boost::asio::io_context io;
  LoopbackHub hub(io);
  LoopbackTransport transport(hub, 0);
  NodeHost host(io, transport, Limits::simulated(), {}, WaitPolicy::kPoll, {});
  SessionContext context{.host = host,
                         .cluster = {},
                         .planner = GroupPlanner(Settings{}),
                         .fill_status = {},
                         .fill_trace = {},
                         .on_closed = {},
                         .relay = {},
                         .counters = {},
                         .response = {}};
  std::string folder = std::filesystem::temp_directory_path() / "fibocast-sessions-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  {
    SessionServer server(io, context, folder + "/socket");
    server.start();
    boost::asio::local::stream_protocol::socket client(io);
    client.connect(folder + "/socket");
    {
      const NoDescriptors none;
      EXPECT_TRUE(comes_to_rest(io));
      EXPECT_EQ(server.clients(), 0u);
    }
    while (server.clients() == 0) io.run_one();
    server.drain("");
    server.close_all();
  }
  host.stop();
  for (int again = 0; again < 2; ++again) io.restart(), io.poll();  // what is queued must not outlive the host
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace fibocast
