#include "runtime/client/client.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <cstring>

#include "runtime/wire/client_codec.h"
#include "tests/inheritable_sockets.h"
#include "tests/runtime/client/fake_daemon.h"

namespace fibocast {
namespace {

using std::chrono::seconds;

std::shared_ptr<Client> connect(const FakeDaemon& daemon) {
  auto client = Client::connect(daemon.path());
  EXPECT_TRUE(client.ok()) << client.status().sentence;
  return client.ok() ? *client : nullptr;
}

// Answers everything at once: groups have rank 1 of 3, operations number themselves, messages come from rank 2.
void answer_all(FakeDaemon& daemon, const client::Request& request) {
  client::Response response = answer_to(request);
  if (request.has_open_group()) {
    response.mutable_group()->set_name(request.open_group().name());
    response.mutable_group()->set_rank(1);
    response.mutable_group()->set_size(3);
  } else if (request.has_operate()) {
    response.mutable_outcome()->set_generation(static_cast<std::uint32_t>(request.id()));
    response.mutable_outcome()->set_payload(request.operate().payload());
    response.mutable_outcome()->set_arrived_at_ns(11);
    response.mutable_outcome()->set_activated_at_ns(12);
    response.mutable_outcome()->set_first_send_at_ns(13);
    response.mutable_outcome()->set_lateness_ns(14);
    response.mutable_outcome()->set_straggler(2);
    response.mutable_outcome()->set_straggler_late_ns(15);
  } else if (request.has_receive()) {
    response.mutable_message()->set_rank(2);
    response.mutable_message()->set_payload("tag " + std::to_string(request.receive().tag()));
  }
  daemon.send(response);
}

std::string text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

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
  const auto client = connect(daemon);
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
  auto group = connect(daemon)->open("g");
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

// Two of three go on: what was gathered are two vectors.
TEST(Blocking, AnOwnOperatorCombinesAsManyVectorsAsThereAre) {
  FakeDaemon daemon([](FakeDaemon& it, const client::Request& request) {
    if (!request.has_operate()) return answer_all(it, request);
    client::Response response = answer_to(request);
    response.mutable_outcome()->set_payload(request.operate().payload() + "987");
    it.send(response);
  });
  auto group = connect(daemon)->open("g");
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
  auto client = connect(daemon);
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
  auto client = connect(daemon);
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
  const Received late = connect(daemon)->receive(1);
  EXPECT_EQ(late.status.code, Code::kDeadlineExceeded);
  EXPECT_EQ(late.status.exit_code(), 3);
  EXPECT_EQ(late.status.sentence, "too late");
  EXPECT_EQ(late.status.ranks, std::vector<Rank>{4});
}

TEST(Trouble, ADaemonThatDiesEndsTheCallAndAllLaterOnes) {
  FakeDaemon daemon([](FakeDaemon& d, const client::Request&) { d.hang_up(); });
  auto client = connect(daemon);
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
  const Received got = connect(daemon)->receive(1);
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
  auto client = connect(daemon);
  EXPECT_TRUE(client->send(2, 1, {}).ok());
  EXPECT_EQ(client->send(2, 1, {}).sentence,
            "lost the daemon at " + daemon.path() + ": " + complaint().status().sentence());
}

TEST(Trouble, WordsThatAreNoProtocol) {
  for (const std::string& garbage : {std::string("\xff\xff\xff\xff hello"), std::string("\x03\0\0\0abc", 7)}) {
    FakeDaemon daemon([&](FakeDaemon& d, const client::Request&) { d.send_raw(garbage); });
    const Received got = connect(daemon)->receive(1);
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
  EXPECT_EQ(connect(daemon)->receive(3).from, 2u);
}

TEST(Async, HandlersRunWhereTheExecutorRuns) {
  FakeDaemon daemon(answer_all);
  boost::asio::io_context context;
  Client::Options options;
  options.socket_path = daemon.path();
  options.executor = context.get_executor();
  auto client = Client::connect(options);
  ASSERT_TRUE(client.ok());
  auto group = client.value()->open("g");
  int ended = 0;
  for (int i = 0; i < 10; ++i) group->async_barrier(seconds(5), [&](Outcome outcome) { ended += outcome.ok(); });
  client.value()->async_receive(4, seconds(5), [&](Received got) { ended += text(got.bytes) == "tag 4"; });
  EXPECT_EQ(ended, 0);
  context.run();  // ends by itself: nothing is left waiting
  EXPECT_EQ(ended, 11);
}

TEST(Async, FuturesAndCoroutines) {
  FakeDaemon daemon(answer_all);
  auto client = connect(daemon);
  auto group = client->open("g");
  auto sent = client->async_send(1, 2, {}, seconds(5), boost::asio::use_future);
  std::string got;
  boost::asio::co_spawn(
      client->io_context(),
      [&]() -> boost::asio::awaitable<void> {
        const Outcome outcome = co_await group->async_barrier(seconds(5), boost::asio::use_awaitable);
        EXPECT_TRUE(outcome.ok());
        const Received message = co_await client->async_receive(9, seconds(5), boost::asio::use_awaitable);
        got = text(message.bytes);
      },
      boost::asio::detached);
  client->io_context().run();
  EXPECT_TRUE(sent.get().ok());
  EXPECT_EQ(got, "tag 9");
}

// The daemon answers the first request only after the second: the blocking call in between takes its own answer and
// keeps the other for its handler.
TEST(Async, MixedWithBlockingCallsAndAnsweredOutOfOrder) {
  client::Request first;
  FakeDaemon daemon([&](FakeDaemon& d, const client::Request& request) {
    if (request.has_operate() && first.id() == 0) {
      first = request;
      return;
    }
    answer_all(d, request);
    if (request.has_receive()) answer_all(d, first);
  });
  auto client = connect(daemon);
  auto group = client->open("g");
  bool ended = false;
  group->async_barrier(seconds(5), [&](Outcome outcome) { ended = outcome.ok(); });
  EXPECT_EQ(text(client->receive(8).bytes), "tag 8");
  EXPECT_FALSE(ended);
  client->io_context().run();
  EXPECT_TRUE(ended);
}

TEST(Async, AClientThatGoesAwayCancels) {
  FakeDaemon daemon([](FakeDaemon& d, const client::Request& request) {
    if (!request.has_receive()) answer_all(d, request);
  });
  boost::asio::io_context context;
  Client::Options options;
  options.socket_path = daemon.path();
  options.executor = context.get_executor();
  Code code = Code::kOk;
  {
    auto client = Client::connect(options);
    ASSERT_TRUE(client.ok());
    client.value()->async_receive(1, seconds(5), [&](Received got) { code = got.status.code; });
  }
  context.run();
  EXPECT_EQ(code, Code::kCancelled);
}

}  // namespace
}  // namespace fibocast
