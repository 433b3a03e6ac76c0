// A daemon that has all its clients answers who only asks for its status, and nobody else.
#include "runtime/daemon/session_server.h"
#include "tests/runtime/daemon/cluster_fixture.h"

namespace fibocast {
namespace {

client::Request hello(bool status_only) {
  client::Request request;
  request.mutable_hello()->set_major(1);
  request.mutable_hello()->set_status_only(status_only);
  return request;
}

class SparePlaces : public ClusterTest {
 protected:
  void fill(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) applications_.push_back(std::make_unique<RawClient>(socket(0)));
  }
  std::vector<std::unique_ptr<RawClient>> applications_;
};

TEST_F(SparePlaces, AreForTheStatusAlone) {
  start_cluster(1);
  fill(SessionServer::kMaxClients);
  RawClient probe(socket(0), false);
  EXPECT_EQ(probe.call(hello(true)).status().code(), client::CODE_OK);
  EXPECT_EQ(probe.status().clients(), SessionServer::kMaxClients + 1);
  EXPECT_EQ(probe.open_group("all").status().code(), client::CODE_INVALID);
  EXPECT_EQ(probe.barrier("all").status().code(), client::CODE_INVALID);
  RawClient application(socket(0), false);
  const client::Response refused = application.call(hello(false));
  EXPECT_EQ(refused.status().code(), client::CODE_UNAVAILABLE);
  EXPECT_EQ(refused.status().sentence(), "this daemon has 256 clients already; close one and connect again");
  EXPECT_TRUE(application.closed_by_daemon());
  EXPECT_EQ(probe.call(hello(false)).status().code(), client::CODE_UNAVAILABLE) << "it is none of those that may";
  EXPECT_TRUE(probe.closed_by_daemon());
  EXPECT_EQ(applications_[0]->status().counters().at("clients_turned_away"), 2u);
}

TEST_F(SparePlaces, AreNotNeededWhereOthersAreFree) {
  start_cluster(1);
  RawClient probe(socket(0), false);
  EXPECT_EQ(probe.call(hello(true)).status().code(), client::CODE_OK);
  EXPECT_EQ(probe.status().clients(), 1u);
  EXPECT_EQ(probe.open_group("all").status().code(), client::CODE_INVALID) << "not more than it asked for";
}

}  // namespace
}  // namespace fibocast
