// A daemon that is told to leave: by its process or by a client, what it still brings, and who may tell it.
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "runtime/wire/client_codec.h"
#include "tests/runtime/daemon/client_requests.h"
#include "tests/runtime/daemon/cluster_fixture.h"

namespace fibocast {
namespace {

class DaemonLeaving : public ClusterTest {};

TEST_F(DaemonLeaving, ALeavingDaemonAnswersAndRemovesItsSocket) {
  start_cluster(2);
  RawClient client(socket(0));
  const auto id = client.start_barrier("gate");
  client.status();  // the barrier has been taken
  stop(0);
  EXPECT_EQ(client.receive(id).status().code(), client::CODE_CANCELLED);
  EXPECT_FALSE(std::filesystem::exists(socket(0)));
}

TEST_F(DaemonLeaving, ALeavingDaemonBringsWhatItHasTaken) {
  start_cluster(2);
  wait_connected();
  RawClient sender(socket(0)), receiver(socket(1));
  for (RawClient* client : {&sender, &receiver}) client->open_group("gate");
  const std::string large(4 << 20, 'L');
  client::Request multicast;
  multicast.mutable_operate()->set_group("gate");
  multicast.mutable_operate()->set_kind(client::OPERATION_MULTICAST);
  multicast.mutable_operate()->set_payload(large);
  EXPECT_EQ(sender.call(message_to(1, 7, large)).status().code(), client::CODE_OK);
  EXPECT_EQ(sender.call(multicast).status().code(), client::CODE_OK);
  stop(0);
  EXPECT_TRUE(receiver.call(receive_of(7)).message().payload() == large);
  multicast.mutable_operate()->clear_payload();
  const auto got = receiver.call(multicast);
  EXPECT_EQ(got.status().code(), client::CODE_OK) << got.status().sentence();
  EXPECT_TRUE(got.outcome().payload() == large);
}

client::Request drain_request() {
  client::Request request;
  request.mutable_drain();
  return request;
}

TEST_F(DaemonLeaving, OneMayTellTheDaemonToLeave) {
  start_cluster(2);
  wait_connected();
  RawClient asks(socket(0)), waits(socket(0)), other(socket(1));
  const auto barrier = waits.start_barrier("gate");
  waits.status();  // the barrier has been taken
  const auto drain = asks.send(drain_request());
  const auto late = asks.start_barrier("gate");  // after it nothing is read any more
  EXPECT_EQ(asks.receive(drain).status().code(), client::CODE_OK);
  EXPECT_EQ(waits.receive(barrier).status().code(), client::CODE_CANCELLED);
  EXPECT_TRUE(asks.closed_by_daemon()) << late;
  threads_[0].join();
  EXPECT_FALSE(std::filesystem::exists(socket(0)));
  while (other.status().peers(0).state() != "lost") std::this_thread::yield();
  daemons_[0].reset();
}

TEST_F(DaemonLeaving, OnlyItsOwnUserMayAndNotThroughAnotherDaemon) {
  start_cluster(2);
  wait_connected();
  client::Request hello;
  hello.mutable_hello()->set_major(kClientMajor);
  hello.mutable_hello()->set_node(1);
  RawClient relayed(socket(0), false);
  ASSERT_EQ(relayed.call(hello).welcome().rank(), 1u);
  const auto refused = relayed.call(drain_request()).status();
  EXPECT_EQ(refused.code(), client::CODE_REFUSED);
  EXPECT_NE(refused.sentence().find("on its own host"), std::string::npos) << refused.sentence();
  EXPECT_EQ(RawClient(socket(1)).status().connected(), 1u);
  if (geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  std::filesystem::permissions(folder_, std::filesystem::perms::group_all, std::filesystem::perm_options::add);
  std::thread([&] {  // one of the socket's group; of this thread alone, as the system call is not the library's
    ASSERT_EQ(syscall(SYS_setresuid, 1234, 1234, 1234), 0);
    RawClient member(socket(1));
    EXPECT_EQ(member.call(drain_request()).status().code(), client::CODE_REFUSED);
    EXPECT_EQ(member.status().connected(), 1u);
  })
      .join();
}

}  // namespace
}  // namespace fibocast
