// Asynchronous calls: where their handlers run, and what ends them.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <future>

#include "runtime/client/client.h"
#include "runtime/wire/client_codec.h"
#include "tests/runtime/client/fake_daemon.h"

namespace fibocast {
namespace {

using std::chrono::seconds;

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
  auto client = connected_to(daemon);
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
  auto client = connected_to(daemon);
  auto group = client->open("g");
  bool ended = false;
  group->async_barrier(seconds(5), [&](Outcome outcome) { ended = outcome.ok(); });
  EXPECT_EQ(text(client->receive(8).bytes), "tag 8");
  EXPECT_FALSE(ended);
  client->io_context().run();
  EXPECT_TRUE(ended);
}

Client::Options impatient(const FakeDaemon& daemon) {
  Client::Options options;
  options.socket_path = daemon.path();
  options.patience = std::chrono::nanoseconds(1);
  return options;
}

constexpr std::chrono::milliseconds kSoon{1};
constexpr std::chrono::hours kNotToday{24};

std::string silence_of(const FakeDaemon& daemon) {
  return "the daemon at " + daemon.path() + " does not answer: is it stopped?";
}

TEST(Async, AStoppedDaemonEndsTheCallsAsItDoesTheBlockingOnes) {
  FakeDaemon daemon([](FakeDaemon& d, const client::Request& request) {
    if (request.has_open_group()) answer_all(d, request);
  });
  daemon.set_default_deadline(50'000'000);
  auto client = Client::connect(impatient(daemon));
  ASSERT_TRUE(client.ok());
  auto group = client.value()->open("g");
  ASSERT_TRUE(group.ok());
  std::vector<Status> ended;
  group->async_barrier({}, [&](Outcome outcome) { ended.push_back(outcome.status); });  // by the default deadline
  client.value()->async_receive(1, kSoon, [&](Received got) { ended.push_back(got.status); });
  client.value()->async_send(2, 1, {}, kSoon, [&](Status status) { ended.push_back(status); });
  client.value()->io_context().run();
  ASSERT_EQ(ended.size(), 3u);
  for (const Status& status : ended) {
    EXPECT_EQ(status.code, Code::kUnavailable);
    EXPECT_EQ(status.sentence, silence_of(daemon));
  }
}

// One call has time until tomorrow: it ends with its answer, and then nothing is left waiting.
TEST(Async, ACallThatIsGivenUpLeavesTheOthersAlone) {
  client::Request patient;
  FakeDaemon daemon([&](FakeDaemon& d, const client::Request& request) {
    if (request.has_receive() && request.receive().tag() == 1) patient = request;
    if (request.has_send()) answer_all(d, patient);
  });
  auto client = Client::connect(impatient(daemon));
  ASSERT_TRUE(client.ok());
  Received got;
  std::string given_up;
  client.value()->async_receive(1, kNotToday, [&](Received received) { got = std::move(received); });
  client.value()->async_receive(2, kSoon, [&](Received received) {
    given_up = received.status.sentence;
    client.value()->async_send(2, 1, {}, kSoon, [](Status) {});  // the daemon answers the first call only now
  });
  client.value()->io_context().run();
  EXPECT_EQ(given_up, silence_of(daemon));
  EXPECT_EQ(text(got.bytes), "tag 1");
}

// The caller has them back at once, however little the socket takes.
TEST(Async, PayloadsAreCopiedWhenTheyAreGiven) {
  FakeDaemon daemon(answer_all);
  auto client = connected_to(daemon);
  auto group = client->open("g");
  ASSERT_TRUE(group.ok());
  std::vector<std::vector<std::byte>> got;
  for (const std::byte mark : {std::byte{1}, std::byte{2}}) {
    std::vector<std::byte> bytes(1 << 20, mark);
    group->async_multicast(1, bytes, kNotToday, [&](Outcome outcome) { got.push_back(std::move(outcome.payload)); });
    std::ranges::fill(bytes, std::byte{9});
  }
  client->io_context().run();
  ASSERT_EQ(got.size(), 2u);
  for (const std::byte mark : {std::byte{1}, std::byte{2}})
    EXPECT_TRUE(got[static_cast<std::size_t>(mark) - 1] == std::vector<std::byte>(1 << 20, mark));
}

TEST(Async, ABlockingCallThatIsGivenUpLeavesNothingWaiting) {
  client::Request patient;
  FakeDaemon daemon([&](FakeDaemon& d, const client::Request& request) {
    if (request.has_receive()) patient = request;
    if (request.has_send()) answer_all(d, patient);
  });
  auto client = Client::connect(impatient(daemon));
  ASSERT_TRUE(client.ok());
  Received got;
  client.value()->async_receive(1, kNotToday, [&](Received received) { got = std::move(received); });
  EXPECT_EQ(client.value()->send(2, 1, {}, kSoon).sentence, silence_of(daemon));
  client.value()->io_context().run();
  EXPECT_EQ(text(got.bytes), "tag 1");
}

// The executor runs only when the time is over: what has come meanwhile counts, and so does an answer of which no more
// than a part has, while the daemon goes on with it.
TEST(Async, AnAnswerIsTakenHoweverLateTheExecutorRuns) {
  const std::string whole(100'000, 'w');  // several reads
  std::promise<void> half_is_there, go_on;
  FakeDaemon daemon([&](FakeDaemon& d, const client::Request& request) {
    client::Response response = answer_to(request);
    response.mutable_message()->set_payload(whole);
    std::string frame;
    append_frame(response, frame);
    if (request.receive().tag() == 1) return d.send_raw(frame);
    d.send_raw(frame.substr(0, 9));
    half_is_there.set_value();
    go_on.get_future().wait();
    d.send_raw(frame.substr(9));
  });
  auto client = Client::connect(impatient(daemon));
  ASSERT_TRUE(client.ok());
  std::vector<std::string> ended;
  const auto note = [&](Received got) { ended.push_back(got.ok() ? text(got.bytes) : got.status.sentence); };
  client.value()->async_receive(1, std::chrono::nanoseconds(1), note);
  client.value()->async_receive(2, std::chrono::nanoseconds(1), note);
  half_is_there.get_future().wait();
  boost::asio::io_context& context = client.value()->io_context();
  boost::asio::steady_timer later(context, std::chrono::steady_clock::now());  // than the time of both calls
  later.async_wait([&](boost::system::error_code) { boost::asio::post(context, [&] { context.stop(); }); });
  context.run();
  EXPECT_EQ(ended, std::vector<std::string>{whole});
  go_on.set_value();
  context.restart();
  context.run();
  EXPECT_EQ(ended, (std::vector<std::string>{whole, whole}));
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
