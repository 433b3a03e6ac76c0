#include "runtime/client/client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "runtime/wire/client_codec.h"
#include "tests/inheritable_sockets.h"
#include "tests/runtime/client/fake_daemon.h"

namespace fibocast {
namespace {

using std::chrono::seconds;

TEST(Connect, NobodyThere) {
  EXPECT_EQ(Client::connect("/nowhere/at/all").status().code, Code::kUnavailable);
  EXPECT_EQ(Client::connect(std::string(200, 'x')).status().code, Code::kInvalid);
  unsetenv("FIBOCAST_SOCKET");
  EXPECT_EQ(Client::connect().status().code, Code::kInvalid);
}

TEST(Connect, TheEnvironmentNamesTheSocket) {
  FakeDaemon daemon(answer_all);
  setenv("FIBOCAST_SOCKET", daemon.path().c_str(), 1);
  auto client = Client::connect();
  unsetenv("FIBOCAST_SOCKET");
  ASSERT_TRUE(client.ok()) << client.status().sentence;
  EXPECT_EQ(client.value()->rank(), 1u);
  EXPECT_EQ(client.value()->size(), 3u);
}

TEST(Connect, ProgramsThatTheApplicationStartsDoNotInheritTheConnection) {
  const std::set<int> before = inheritable_sockets();
  FakeDaemon daemon(answer_all);
  const auto client = connected_to(daemon);
  EXPECT_EQ(inheritable_sockets(), before);
}

TEST(Connect, AnotherVersionIsRefused) {
  FakeDaemon daemon(answer_all);
  daemon.set_refuses(true);
  const auto client = Client::connect(daemon.path());
  EXPECT_EQ(client.status().code, Code::kRefused);
  EXPECT_EQ(client.status().exit_code(), 6);
}

TEST(Blocking, AMulticastIntoAPlaceOfTheCallers) {
  FakeDaemon daemon([](FakeDaemon& it, const client::Request& request) {
    if (!request.has_operate()) return answer_all(it, request);
    client::Response response = answer_to(request);
    response.mutable_outcome()->set_payload("12345");
    it.send(response);
  });
  auto group = connected_to(daemon)->open("g");
  ASSERT_TRUE(group.ok());
  std::vector<std::byte> place(5);
  const Outcome outcome = group->multicast_into(0, place);
  EXPECT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome.in_place);
  EXPECT_TRUE(outcome.payload.empty());
  EXPECT_EQ(text(place), "12345");
  place.resize(4);
  const Outcome refused = group->multicast_into(0, place);
  EXPECT_EQ(refused.status.code, Code::kInvalid);
  EXPECT_EQ(refused.status.sentence,
            "multicast: the root sent 5 bytes, not 4 as there is place for; give the same length at every rank");
  EXPECT_EQ(text(refused.payload), "12345");
}

// More than a socket takes at once.
std::vector<std::byte> large() {
  std::vector<std::byte> bytes(3 << 20);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 4096);
  return bytes;
}

TEST(Blocking, ALargePayloadComesBackWhole) {
  FakeDaemon daemon(answer_all);
  auto group = connected_to(daemon)->open("g");
  ASSERT_TRUE(group.ok());
  EXPECT_EQ(group->multicast(1, large()).payload, large());
  EXPECT_TRUE(group->barrier().ok());
}

// The daemon is asleep: a call is given up when a part of its payload has left. What its owner does with the bytes then
// is nothing to the daemon, which gets the rest later, and understands what is asked next.
TEST(Trouble, APayloadThatIsGivenUpHalfwayIsSentWhole) {
  std::promise<void> wakes;
  std::string got;
  FakeDaemon daemon([&, sleeps = wakes.get_future().share()](FakeDaemon& d, const client::Request& request) {
    if (request.has_receive()) sleeps.wait();
    if (request.has_send() && request.send().tag() == 1) got = request.send().payload();
    if (request.has_send()) answer_all(d, request);
  });
  Client::Options options;
  options.socket_path = daemon.path();
  options.patience = std::chrono::milliseconds(1);
  auto client = Client::connect(options);
  ASSERT_TRUE(client.ok());
  client.value()->async_receive(1, std::chrono::hours(1), [](const Received&) {});
  std::vector<std::byte> bytes = large();
  EXPECT_EQ(client.value()->send(2, 1, bytes, std::chrono::milliseconds(1)).code, Code::kUnavailable);
  std::ranges::fill(bytes, std::byte{0});
  wakes.set_value();
  EXPECT_TRUE(client.value()->send(2, 2, {}, std::chrono::hours(1)).ok());
  EXPECT_TRUE(got == text(large()));
}

// Two of three go on: what was gathered are two vectors.
TEST(Blocking, AnOwnOperatorCombinesAsManyVectorsAsThereAre) {
  FakeDaemon daemon([](FakeDaemon& it, const client::Request& request) {
    if (!request.has_operate()) return answer_all(it, request);
    client::Response response = answer_to(request);
    response.mutable_outcome()->set_payload(request.operate().payload() + "987");
    it.send(response);
  });
  auto group = connected_to(daemon)->open("g");
  ASSERT_TRUE(group.ok());
  const std::string mine = "123";
  std::string combined;
  const Combine note = [&](std::span<std::byte> left, std::span<const std::byte> right) {
    combined += text({left.begin(), left.end()}) + text({right.begin(), right.end()}) + " ";
  };
  EXPECT_EQ(text(group->reduce_with(1, std::as_bytes(std::span(mine)), note).payload), "123");
  EXPECT_EQ(text(group->allreduce_with(std::as_bytes(std::span(mine)), note).payload), "123");
  EXPECT_EQ(combined, "123987 123987 ");
}

TEST(Blocking, OperationsAndMessages) {
  FakeDaemon daemon(answer_all);
  auto client = connected_to(daemon);
  auto group = client->open("g");
  ASSERT_TRUE(group.ok());
  EXPECT_EQ(group->rank(), 1u);
  const Outcome outcome = group->barrier(seconds(5));
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.arrived_at, 11);
  EXPECT_EQ(outcome.activated_at, 12);
  EXPECT_EQ(outcome.first_send_at, 13);
  EXPECT_EQ(outcome.lateness, 14);
  EXPECT_EQ(outcome.straggler.rank, 2u);
  EXPECT_EQ(outcome.straggler.late_by, 15);
  std::vector<std::byte> large(3 << 20, std::byte{7});
  EXPECT_TRUE(group->multicast(1, large, seconds(5)).payload == large);
  EXPECT_TRUE(client->send(2, 5, large).ok());
  const Received got = client->receive(5);
  EXPECT_EQ(got.from, 2u);
  EXPECT_EQ(text(got.bytes), "tag 5");
}

TEST(Blocking, WhatTheDaemonIsAsked) {
  client::Request last;
  FakeDaemon daemon([&](FakeDaemon& d, const client::Request& request) {
    last = request;
    answer_all(d, request);
  });
  auto client = connected_to(daemon);
  auto group = client->open("g", 2);
  EXPECT_EQ(last.open_group().participants(), 2u);
  OperationOptions options;
  options.label = "now";
  options.charged = false;
  options.not_before = 99;
  ASSERT_TRUE(group->barrier(seconds(5), options).ok());
  EXPECT_EQ(last.operate().kind(), client::OPERATION_BARRIER);
  EXPECT_EQ(last.operate().deadline_ns(), 5'000'000'000);
  EXPECT_EQ(last.operate().label(), "now");
  EXPECT_TRUE(last.operate().uncharged());
  EXPECT_EQ(last.operate().not_before_ns(), 99);
  EXPECT_FALSE(last.operate().has_generation());  // the daemon numbers
  GroupRequest wanted{.name = "n", .nodes = {0, 2}, .distribution = TreeSpec{TreeKind::kKary, 4, 1, 1}};
  ASSERT_TRUE(client->create_group(wanted).ok());
  EXPECT_EQ(last.create_group().distribution().name(), "kary:4");
  EXPECT_FALSE(last.create_group().has_reduction());
  EXPECT_FALSE(last.create_group().has_tree());
  wanted = {.name = "n", .nodes = {0, 2}, .tree = GivenTree{{1, kNoRank}, {1, 0}}};
  ASSERT_TRUE(client->create_group(wanted).ok());
  EXPECT_EQ(last.create_group().tree().parents(1), kNoRank);
  EXPECT_EQ(last.create_group().tree().order_size(), 2);
  const TreeSpec binary{TreeKind::kKary, 2, 1, 1};
  ASSERT_TRUE(client->create_group({.name = "m", .nodes = {0, 2}, .reduction = binary, .distribution = binary}).ok());
  EXPECT_FALSE(last.create_group().has_tree()) << "of the group before";
  ASSERT_TRUE(client->create_group({.name = "o", .nodes = {0, 2}}).ok());
  EXPECT_FALSE(last.create_group().has_reduction()) << "of the group before";
  EXPECT_FALSE(last.create_group().has_distribution()) << "of the group before";
  ASSERT_TRUE(client->plan_group({.name = "m", .nodes = {}, .reduction = binary, .distribution = binary}).ok());
  ASSERT_TRUE(client->plan_group({.name = "m", .nodes = {}}).ok());
  EXPECT_FALSE(last.plan_group().has_reduction()) << "of the plan before";
  EXPECT_FALSE(last.plan_group().has_distribution()) << "of the plan before";
  ASSERT_TRUE(client->try_send(2, 1, {}).ok());
  EXPECT_TRUE(last.send().try_only());
}

TEST(Blocking, AFailureHasItsSentenceAndRanks) {
  FakeDaemon daemon([](FakeDaemon& d, const client::Request& request) {
    client::Response response = answer_to(request, client::CODE_DEADLINE_EXCEEDED);
    response.mutable_status()->set_sentence("too late");
    response.mutable_status()->add_ranks(4);
    d.send(response);
  });
  const Received late = connected_to(daemon)->receive(1);
  EXPECT_EQ(late.status.code, Code::kDeadlineExceeded);
  EXPECT_EQ(late.status.exit_code(), 3);
  EXPECT_EQ(late.status.sentence, "too late");
  EXPECT_EQ(late.status.ranks, std::vector<Rank>{4});
}

// Others were about to make it, and were refused as well.
TEST(Groups, ThatMayBeThereAreTriedAgain) {
  int asked = 0;
  FakeDaemon daemon([&](FakeDaemon& it, const client::Request& request) {
    const bool refused = ++asked % 3 != 0;
    it.send(answer_to(request, refused ? client::CODE_REFUSED : client::CODE_OK));
  });
  auto client = connected_to(daemon);
  GroupRequest request;
  request.name = "g", request.nodes = {0, 1};
  EXPECT_EQ(client->create_group(request).code, Code::kRefused);
  asked = 0, request.if_missing = true;
  EXPECT_TRUE(client->create_group(request).ok());
  EXPECT_EQ(asked, 3);
}

TEST(Trouble, ADaemonThatDiesEndsTheCallAndAllLaterOnes) {
  FakeDaemon daemon([](FakeDaemon& d, const client::Request&) { d.hang_up(); });
  auto client = connected_to(daemon);
  EXPECT_EQ(client->receive(1).status.code, Code::kUnavailable);
  EXPECT_EQ(client->send(1, 1, {}).code, Code::kUnavailable);
  bool called = false;
  client->async_receive(1, seconds(5), [&](Received got) {
    called = true;
    EXPECT_EQ(got.status.code, Code::kUnavailable);
  });
  client->io_context().run();
  EXPECT_TRUE(called);
}

TEST(Trouble, AStoppedDaemonEndsTheCallsThatGiveNoDeadline) {
  FakeDaemon daemon([](FakeDaemon& d, const client::Request& request) {
    if (request.has_open_group()) answer_all(d, request);
  });
  daemon.set_default_deadline(1'000'000);
  Client::Options options;
  options.socket_path = daemon.path();
  options.patience = std::chrono::milliseconds(1);
  auto client = Client::connect(options);
  ASSERT_TRUE(client.ok());
  auto group = client.value()->open("g");
  ASSERT_TRUE(group.ok());
  const std::string silent = "the daemon at " + daemon.path() + " does not answer: is it stopped?";
  EXPECT_EQ(group->barrier().status.sentence, silent);
  EXPECT_EQ(client.value()->receive(1).status.sentence, silent);
  EXPECT_EQ(client.value()->send(2, 1, {}).sentence, silent);
}

client::Response complaint() {
  client::Response response;
  response.mutable_status()->set_code(client::CODE_UNAVAILABLE);
  response.mutable_status()->set_sentence("this daemon has 256 clients already; close one and connect again");
  return response;
}

TEST(Trouble, WhyTheDaemonClosesTheConnectionIsTold) {
  FakeDaemon daemon([](FakeDaemon& d, const client::Request&) {
    d.send(complaint());
    d.hang_up();
  });
  const Received got = connected_to(daemon)->receive(1);
  EXPECT_EQ(got.status.code, Code::kUnavailable);
  EXPECT_EQ(got.status.sentence, "lost the daemon at " + daemon.path() + ": " + complaint().status().sentence());
}

// It had closed the connection before it was asked.
TEST(Trouble, TheDaemonsLastWordsAreReadWhenItTakesNoMore) {
  FakeDaemon daemon([](FakeDaemon& d, const client::Request& request) {
    std::string words;
    append_frame(answer_to(request), words);
    append_frame(complaint(), words);
    d.stop_reading();
    d.send_raw(words);
  });
  auto client = connected_to(daemon);
  EXPECT_TRUE(client->send(2, 1, {}).ok());
  EXPECT_EQ(client->send(2, 1, {}).sentence,
            "lost the daemon at " + daemon.path() + ": " + complaint().status().sentence());
}

TEST(Trouble, WordsThatAreNoProtocol) {
  for (const std::string& garbage : {std::string("\xff\xff\xff\xff hello"), std::string("\x03\0\0\0abc", 7)}) {
    FakeDaemon daemon([&](FakeDaemon& d, const client::Request&) { d.send_raw(garbage); });
    const Received got = connected_to(daemon)->receive(1);
    EXPECT_EQ(got.status.code, Code::kUnavailable);
    EXPECT_NE(got.status.sentence.find("not Fibocast"), std::string::npos) << got.status.sentence;
  }
}

TEST(Trouble, AnswersThatNobodyAskedForAreDropped) {
  FakeDaemon daemon([](FakeDaemon& d, const client::Request& request) {
    client::Response stray = answer_to(request);
    stray.set_id(request.id() + 1000);
    d.send(stray);
    answer_all(d, request);
  });
  EXPECT_EQ(connected_to(daemon)->receive(3).from, 2u);
}

}  // namespace
}  // namespace fibocast
