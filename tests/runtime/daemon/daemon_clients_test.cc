// Local clients: messages, groups, back-pressure, and clients that misbehave or go away.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "runtime/daemon/settings_loader.h"
#include "runtime/wire/client_codec.h"
#include "tests/runtime/daemon/client_requests.h"
#include "tests/runtime/daemon/cluster_fixture.h"

namespace fibocast {
namespace {

class DaemonClients : public ClusterTest {
 protected:
  // An eighth of the usual room, of which messages have a quarter: filled several times, it costs a sanitizer least.
  static constexpr std::uint64_t kRoom = 32 << 20;
  void start_two_with_room(std::uint64_t bytes) {
    plan_cluster(2);
    for (Settings& settings : settings_) settings.limits.payload_bytes = bytes;
    start_all();
  }
};

// More than generations may be open.
void expect_multicasts(RawClient& sender, RawClient& receiver) {
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t sent = sender.send(multicast_of("all", 1, "next", 10'000));
    const auto got = receiver.call(multicast_of("all", 1, "", 10'000));
    ASSERT_EQ(got.outcome().payload(), "next") << i << " " << got.status().sentence();
    ASSERT_EQ(sender.receive(sent).status().code(), client::CODE_OK) << i;
  }
}

TEST_F(DaemonClients, MessagesArriveInOrderWhateverTheirSize) {
  start_cluster(2);
  RawClient sender(socket(0)), receiver(socket(1));
  const std::string large(8 << 20, 'L');
  const auto first = receiver.send(receive_of(7));
  const auto second = receiver.send(receive_of(7));
  EXPECT_EQ(sender.call(message_to(1, 7, large)).status().code(), client::CODE_OK);
  EXPECT_EQ(sender.call(message_to(1, 7, "small")).status().code(), client::CODE_OK);
  const auto got = receiver.receive(first);
  EXPECT_EQ(got.status().code(), client::CODE_OK) << got.status().sentence();
  EXPECT_TRUE(got.message().payload() == large);
  EXPECT_EQ(got.message().rank(), 0u);
  EXPECT_EQ(receiver.receive(second).message().payload(), "small");
}

TEST_F(DaemonClients, AReceiveEndsAtItsDeadline) {
  start_cluster(1);
  RawClient client(socket(0));
  EXPECT_EQ(client.call(receive_of(7, 20)).status().code(), client::CODE_DEADLINE_EXCEEDED);
}

// The second one is read when the first has its room, and ends after it all the same.
TEST_F(DaemonClients, AReceiveThatWaitsForRoomHasOneDeadlineForBoth) {
  plan_cluster(1);
  settings_[0].limits.requests = 8;
  start_all();
  RawClient first(socket(0)), waits(socket(0));
  constexpr int kFree = 7;  // the daemon itself waits for relays
  for (int i = 0; i < kFree; ++i) first.send(receive_of(1, 800));
  first.status();  // they have been taken
  const auto before = waits.send(receive_of(2, 1'000));
  waits.send(receive_of(3, 900));
  EXPECT_EQ(waits.receive().id(), before);
}

TEST_F(DaemonClients, MoreSendsThanThereIsRoomForWaitUntilTheyAreReceived) {
  start_two_with_room(kRoom);
  RawClient sender(socket(0)), receiver(socket(1));
  constexpr int kMessages = 200;
  constexpr std::size_t kBytes = 128 << 10;
  static_assert(kMessages * kBytes > 3 * kRoom / 4);
  const std::string payload(kBytes, 'x');
  std::thread sending([&] {
    for (int i = 0; i < kMessages; ++i) sender.send(message_to(1, 1, payload));
  });
  for (int i = 0; i < kMessages; ++i) {
    const auto got = receiver.call(receive_of(1));
    ASSERT_EQ(got.status().code(), client::CODE_OK) << i << " " << got.status().sentence();
  }
  sending.join();
  for (int i = 0; i < kMessages; ++i)
    EXPECT_EQ(sender.receive(static_cast<std::uint64_t>(i) + 2).status().code(), client::CODE_OK);
}

TEST_F(DaemonClients, TrySendSaysThatItWouldBlockAndSendWaitsForItsDeadline) {
  start_two_with_room(kRoom);
  RawClient sender(socket(0));
  client::Request request = message_to(1, 1, std::string(1 << 20, 'x'));
  request.mutable_send()->set_try_only(true);
  client::Code code = client::CODE_OK;
  for (int i = 0; i < 100 && code == client::CODE_OK; ++i) code = sender.call(request).status().code();
  EXPECT_EQ(code, client::CODE_WOULD_BLOCK);
  request.mutable_send()->set_try_only(false);
  request.mutable_send()->set_deadline_ns(20'000'000);
  code = client::CODE_OK;  // what was accepted may have found its way to the receiver meanwhile, which made room
  for (int i = 0; i < 100 && code == client::CODE_OK; ++i) code = sender.call(request).status().code();
  EXPECT_EQ(code, client::CODE_DEADLINE_EXCEEDED);
}

TEST_F(DaemonClients, WhatCanNeverFitIsRefusedAtOnce) {
  start_two_with_room(64 << 10);
  RawClient client(socket(0));
  const auto response = client.call(message_to(1, 1, std::string(100'000, 'x')));
  EXPECT_EQ(response.status().code(), client::CODE_INVALID) << response.status().sentence();
}

// Others fill the table of requests: neither the call nor its passing finds room before they are gone.
TEST_F(DaemonClients, ACallThatGaveUpIsPassedOnceThereIsRoom) {
  plan_cluster(2);
  for (Settings& settings : settings_) settings.limits.requests = 16;  // one is of the daemon itself
  start_all();
  RawClient receiver(socket(0)), sender(socket(1));
  receiver.open_group("all"), sender.open_group("all");
  {
    RawClient filler(socket(0));
    for (int i = 0; i < 15; ++i) filler.send(receive_of(1));
    EXPECT_EQ(filler.status().counters().at("now_requests"), 15u);
    EXPECT_EQ(receiver.call(multicast_of("all", 1, "", 20)).status().code(), client::CODE_DEADLINE_EXCEEDED);
    EXPECT_EQ(sender.call(multicast_of("all", 1, "first")).status().code(), client::CODE_OK);
  }
  expect_multicasts(sender, receiver);
}

// Its sender repeats it as it should be, and the receiver who was not refused gets that.
TEST_F(DaemonClients, ACallThatIsRefusedCountsForNothing) {
  start_two_with_room(64 << 10);
  RawClient sender(socket(0)), receiver(socket(1));
  sender.open_group("all"), receiver.open_group("all");
  const std::uint64_t received = receiver.send(multicast_of("all", 0, ""));
  EXPECT_EQ(sender.call(multicast_of("all", 0, std::string(100'000, 'x'))).status().code(), client::CODE_INVALID);
  EXPECT_EQ(sender.call(multicast_of("all", 0, "right")).status().code(), client::CODE_OK);
  EXPECT_EQ(receiver.receive(received).outcome().payload(), "right");
}

// The window of "pair" never moves: its other participant does not come. What is owed there waits, and holds up
// nothing.
TEST_F(DaemonClients, WhatIsPassedInOneGroupDoesNotWaitForAnother) {
  plan_cluster(2);
  for (Settings& settings : settings_) settings.limits.requests = 32;
  start_all();
  RawClient receiver(socket(0)), sender(socket(1));
  for (RawClient* client : {&receiver, &sender}) client->open_group("pair", 2), client->open_group("all");
  for (std::uint32_t i = 0; i < Limits::server().open_generations; ++i) {
    EXPECT_EQ(sender.call(multicast_of("pair", 1, "mine")).status().code(), client::CODE_OK);
    EXPECT_EQ(receiver.call(multicast_of("pair", 1, "")).outcome().payload(), "mine");
  }
  {
    RawClient filler(socket(0));
    for (int i = 0; i < 15; ++i) filler.send(receive_of(1));
    for (int i = 0; i < 16; ++i) receiver.call(multicast_of("pair", 1, "", 5));  // the table keeps these
    EXPECT_EQ(filler.status().counters().at("now_requests"), 31u);
    for (const char* group : {"pair", "all"})
      EXPECT_EQ(receiver.call(multicast_of(group, 1, "", 20)).status().code(), client::CODE_DEADLINE_EXCEEDED);
    EXPECT_EQ(sender.call(multicast_of("all", 1, "first")).status().code(), client::CODE_OK);
  }
  expect_multicasts(sender, receiver);
}

TEST_F(DaemonClients, AGroupIsCreatedUsedAndRemoved) {
  start_cluster(3);
  wait_connected();
  RawClient one(socket(1)), two(socket(2));
  client::Request create;
  create.mutable_create_group()->set_name("pair");
  create.mutable_create_group()->add_ranks(1);
  create.mutable_create_group()->add_ranks(2);
  create.mutable_create_group()->mutable_distribution()->set_name("binomial");
  const auto created = one.call(create);
  ASSERT_EQ(created.status().code(), client::CODE_OK) << created.status().sentence();
  EXPECT_EQ(created.group().size(), 2u);
  EXPECT_EQ(two.open_group("pair").group().rank(), 1u);
  const auto id = one.start_barrier("pair");
  EXPECT_EQ(two.barrier("pair").status().code(), client::CODE_OK);
  EXPECT_EQ(one.receive(id).status().code(), client::CODE_OK);
  client::Request remove;
  remove.mutable_remove_group()->set_name("pair");
  EXPECT_EQ(one.call(remove).status().code(), client::CODE_OK);
  create.mutable_create_group()->mutable_distribution()->set_name("oak");
  EXPECT_EQ(one.call(create).status().code(), client::CODE_INVALID);
}

TEST_F(DaemonClients, AGroupThatIsMadeAnewIsNumberedAnew) {
  start_cluster(2);
  RawClient one(socket(0)), other(socket(1));
  client::Request create, remove;
  create.mutable_create_group()->set_name("pair");
  for (const Rank rank : {0u, 1u}) create.mutable_create_group()->add_ranks(rank);
  remove.mutable_remove_group()->set_name("pair");
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(one.call(create).status().code(), client::CODE_OK);
    if (round > 0) EXPECT_EQ(other.barrier("pair").status().code(), client::CODE_INVALID);  // it opened the former one
    EXPECT_EQ(one.open_group("pair").group().next_generation(), 0u);
    EXPECT_EQ(other.open_group("pair").group().next_generation(), 0u);
    const std::uint64_t called = other.start_barrier("pair");
    EXPECT_EQ(one.barrier("pair").status().code(), client::CODE_OK);
    EXPECT_EQ(other.receive(called).status().code(), client::CODE_OK);
    ASSERT_EQ(one.call(remove).status().code(), client::CODE_OK);
  }
}

TEST_F(DaemonClients, ACancelledRequestIsAnsweredOnce) {
  start_cluster(2);
  RawClient client(socket(0));
  client::Request cancel;
  cancel.mutable_cancel()->set_id(client.start_barrier("gate"));
  const auto cancel_id = client.send(cancel);
  EXPECT_EQ(client.receive(cancel.cancel().id()).status().code(), client::CODE_CANCELLED);
  EXPECT_EQ(client.receive(cancel_id).status().code(), client::CODE_OK);
}

TEST_F(DaemonClients, AClientThatGoesAwayInTheMiddleLeavesNothingBehind) {
  start_cluster(2);
  RawClient stays(socket(0));
  for (int i = 0; i < 20; ++i) {
    RawClient goes(socket(0));
    goes.start_barrier("gate", 100);
    goes.send(receive_of(5));
    std::string half;
    goes.send_bytes(std::string("\xff\xff\x0f\x00", 4) + "half a frame");
    goes.close();
  }
  while (stays.status().clients() > 1) std::this_thread::yield();
  EXPECT_EQ(stays.status().payload_bytes_used(), 0u);
  RawClient other(socket(1));
  const auto id = stays.start_barrier("later");
  EXPECT_EQ(other.barrier("later").status().code(), client::CODE_OK);
  EXPECT_EQ(stays.receive(id).status().code(), client::CODE_OK);
}

TEST_F(DaemonClients, AnApplicationThatDiesInABarrierIsLostToAllAndItsNodeLivesOn) {
  plan_cluster(3);
  for (Settings& settings : settings_) settings.client_grace_ms = 50;
  start_all();
  wait_connected();
  RawClient waits(socket(0)), late(socket(2));
  for (RawClient* client : {&waits, &late}) client->open_group("gate");
  {
    RawClient dies(socket(1));
    dies.open_group("gate");
    client::Request request = barrier_of("gate");
    request.mutable_operate()->set_label("nightly");
    dies.send(request);
    dies.status();  // the barrier has been taken
  }
  const auto told = waits.barrier("gate");
  EXPECT_EQ(told.status().code(), client::CODE_PEER_LOST);
  EXPECT_EQ(told.status().sentence(),
            "barrier 'gate' (generation 0): an application on rank 1 (label 'nightly') died in it; start it again and "
            "repeat the operation");
  EXPECT_EQ(told.status().ranks(0), 1u);
  EXPECT_EQ(late.barrier("gate").status().sentence(), told.status().sentence());
  RawClient again(socket(1));
  EXPECT_EQ(again.open_group("gate").group().next_generation(), 1u);
  const auto first = waits.start_barrier("gate"), second = late.start_barrier("gate");
  EXPECT_EQ(again.barrier("gate").status().code(), client::CODE_OK);
  EXPECT_EQ(waits.receive(first).status().code(), client::CODE_OK);
  EXPECT_EQ(late.receive(second).status().code(), client::CODE_OK);
  EXPECT_EQ(again.status().counters().at("node_callers_lost"), 1u);
}

TEST_F(DaemonClients, AnApplicationThatDiesWithAsMuchUnderWayAsItMayIsLostToo) {
  plan_cluster(3);  // nobody calls at the third
  for (Settings& settings : settings_) settings.client_grace_ms = 50;
  start_all();
  RawClient waits(socket(0)), watches(socket(1));
  waits.open_group("gate");
  {
    RawClient dies(socket(1));
    dies.start_barrier("gate");
    for (std::uint64_t tag = 1; tag < RequestTable::kPlaces; ++tag) dies.send(receive_of(tag));
    while (watches.status().counters().at("now_requests") < RequestTable::kPlaces) std::this_thread::yield();
  }
  EXPECT_EQ(waits.barrier("gate").status().code(), client::CODE_PEER_LOST);
  while (watches.status().counters().at("now_requests") > 0) std::this_thread::yield();
  EXPECT_EQ(watches.status().clients(), 1u);
}

TEST_F(DaemonClients, AnApplicationThatComesBackInTimeTakesItsPlaceAgain) {
  plan_cluster(2);
  for (Settings& settings : settings_) settings.client_grace_ms = 60'000;
  start_all();
  RawClient waits(socket(0));
  waits.open_group("gate");
  RawClient(socket(1)).open_group("gate");
  const auto first = waits.start_barrier("gate");
  EXPECT_EQ(RawClient(socket(1)).barrier("gate").status().code(), client::CODE_OK);
  EXPECT_EQ(waits.receive(first).status().code(), client::CODE_OK);
  {
    RawClient dies(socket(1));
    EXPECT_EQ(dies.open_group("gate").group().next_generation(), 1u);
    dies.start_barrier("gate");
    dies.status();
  }
  RawClient back(socket(1));
  EXPECT_EQ(back.open_group("gate").group().next_generation(), 1u);
  client::Request request = barrier_of("gate");
  request.mutable_operate()->set_generation(1);
  const auto repeated = back.send(request);
  back.status();
  EXPECT_EQ(waits.barrier("gate").status().code(), client::CODE_OK);
  const auto answer = back.receive(repeated);
  EXPECT_EQ(answer.status().code(), client::CODE_OK) << answer.status().sentence();
  EXPECT_EQ(answer.outcome().generation(), 1u);
  EXPECT_EQ(back.status().counters().at("node_callers_lost"), 0u);
  EXPECT_EQ(back.status().counters().at("now_requests"), 0u);
}

TEST_F(DaemonClients, GarbageIsAnsweredClosedAndCounted) {
  start_cluster(1);
  for (const std::string& bytes :
       {std::string("\xff\xff\xff\xff", 4), std::string("\x03\x00\x00\x00\x0b\x0b\x0b", 7)}) {
    RawClient client(socket(0), false);
    client.send_bytes(bytes);
    EXPECT_EQ(client.receive().status().code(), client::CODE_INVALID);
    EXPECT_TRUE(client.closed_by_daemon());
  }
  EXPECT_EQ(RawClient(socket(0)).status().counters().at("clients_garbage"), 2u);
}

TEST_F(DaemonClients, WhoIsGreetedLearnsTheDefaultDeadline) {
  plan_cluster(1);
  settings_[0].default_deadline_ms = 7'000;
  start_all();
  client::Request hello;
  hello.mutable_hello()->set_major(kClientMajor);
  EXPECT_EQ(RawClient(socket(0), false).call(hello).welcome().default_deadline_ns(), 7'000'000'000);
}

TEST_F(DaemonClients, HelloComesFirstAndOtherVersionsAreRefused) {
  start_cluster(1);
  RawClient hasty(socket(0), false);
  EXPECT_EQ(hasty.open_group("all").status().code(), client::CODE_INVALID);
  RawClient foreign(socket(0), false);
  client::Request hello;
  hello.mutable_hello()->set_major(99);
  EXPECT_EQ(foreign.call(hello).status().code(), client::CODE_REFUSED);
  EXPECT_TRUE(foreign.closed_by_daemon());
}

// What is passed on to another daemon has to fit into one chunk of a relay.
TEST_F(DaemonClients, ALongHelloToAnotherDaemonIsRefused) {
  start_cluster(2);
  wait_connected();
  RawClient client(socket(0), false);
  client::Request hello;
  hello.mutable_hello()->set_major(kClientMajor);
  hello.mutable_hello()->set_node(1);
  hello.mutable_hello()->set_program(std::string(60'000, 'p'));
  const auto refused = client.call(hello);
  EXPECT_EQ(refused.status().code(), client::CODE_INVALID) << refused.status().sentence();
  EXPECT_TRUE(client.closed_by_daemon());
  hello.mutable_hello()->set_program(std::string(Relay::kChunk - 100, 'p'));
  const auto welcome = RawClient(socket(0), false).call(hello);
  EXPECT_EQ(welcome.welcome().rank(), 1u) << welcome.status().sentence();
}

TEST_F(DaemonClients, TheSocketOfADeadDaemonIsReplacedThatOfALivingOneIsNot) {
  start_cluster(1);
  struct stat info;
  ASSERT_EQ(stat(socket(0).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0660u);
  Settings second = settings_[0];
  second.cluster.nodes = {free_address()};
  second.node.advertise = second.node.listen = second.cluster.nodes[0];
  try {
    Daemon daemon(second);
    FAIL();
  } catch (const SettingsError& error) {
    EXPECT_NE(std::string(error.what()).find("a living daemon already listens"), std::string::npos) << error.what();
  }
  second.node.socket = folder_ / "dead.sock";
  boost::asio::io_context io;
  boost::asio::local::stream_protocol::acceptor(io, second.node.socket).close();
  EXPECT_TRUE(std::filesystem::exists(second.node.socket));
  Daemon daemon(second);
}

TEST_F(DaemonClients, APortInUseIsOneSentence) {
  start_cluster(1);
  Settings second = settings_[0];
  second.node.socket = folder_ / "second.sock";
  try {
    Daemon daemon(second);
    FAIL();
  } catch (const SettingsError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("node.listen: ")) << error.what();
  }
}

}  // namespace
}  // namespace fibocast
