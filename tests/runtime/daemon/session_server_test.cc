#include "runtime/daemon/session_server.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <vector>

#include "tests/no_descriptors.h"
#include "transport/loopback_transport.h"

namespace fibocast {
namespace {

class SessionServerTest : public testing::Test {
 protected:
  SessionServerTest() : folder_(std::filesystem::temp_directory_path() / "fibocast-sessions-XXXXXX") {
    if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no folder for the test");
  }
  ~SessionServerTest() override {
    if (server_) server_->drain(""), server_->close_all(), server_.reset();
    host_.stop();
    for (int again = 0; again < 2; ++again) io_.restart(), io_.poll();  // what is queued must not outlive the host
    std::filesystem::remove_all(folder_);
  }
  void start() {
    server_ = std::make_unique<SessionServer>(io_, context_, folder_ + "/socket");
    server_->start();
  }
  void accept_one() {
    const auto before = context_.counters.accepted;
    connect();
    while (context_.counters.accepted == before) io_.run_one();
  }
  void connect() { clients_.emplace_back(io_).connect(folder_ + "/socket"); }

  boost::asio::io_context io_;
  LoopbackHub hub_{io_};
  LoopbackTransport transport_{hub_, 0};
  NodeHost host_{io_, transport_, Limits::simulated(), {}, WaitPolicy::kPoll, {}};
  SessionContext context_{.host = host_,
                          .cluster = {},
                          .planner = GroupPlanner(Settings{}),
                          .fill_status = {},
                          .fill_trace = {},
                          .on_closed = {},
                          .relay = {},
                          .counters = {},
                          .response = {}};
  std::string folder_;
  std::unique_ptr<SessionServer> server_;
  std::vector<boost::asio::local::stream_protocol::socket> clients_;
};

TEST_F(SessionServerTest, RestsWhileItHasNoDescriptorsAndAcceptsThen) {
  start();
  accept_one();
  connect();
  {
    const NoDescriptors none;
    EXPECT_TRUE(comes_to_rest(io_));
    EXPECT_EQ(server_->clients(), 1u);
  }
  while (server_->clients() == 1) io_.run_one();
}

TEST_F(SessionServerTest, SparePlacesAreFew) {
  constexpr std::uint32_t kAll = SessionServer::kMaxClients + SessionServer::kSparePlaces;
  context_.spare_patience = 3'600'000'000'000;
  start();
  for (std::uint32_t i = 0; i < kAll; ++i) accept_one();
  connect();
  while (context_.counters.turned_away == 0) io_.run_one();
  EXPECT_EQ(server_->clients(), kAll);
}

// Who has one of the others stays.
TEST_F(SessionServerTest, SparePlacesAreNotHeldForLong) {
  context_.spare_patience = 1;
  start();
  for (std::uint32_t i = 0; i < SessionServer::kMaxClients; ++i) accept_one();
  for (std::uint32_t i = 0; i < 2 * SessionServer::kSparePlaces; ++i) {
    accept_one();
    while (server_->clients() > SessionServer::kMaxClients) io_.run_one();
  }
  EXPECT_EQ(server_->clients(), SessionServer::kMaxClients);
  EXPECT_EQ(context_.counters.turned_away, 0u);
}

}  // namespace
}  // namespace fibocast
