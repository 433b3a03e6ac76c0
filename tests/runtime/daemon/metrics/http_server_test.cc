// The HTTP server against clients that are slow, greedy or talk nonsense. Its clock is not turned: what times out is
// tested by what it counts at the end of its patience in the integration test.
#include "runtime/daemon/metrics/http_server.h"

#include <gtest/gtest.h>

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <random>
#include <vector>

#include "runtime/daemon/metrics/metrics_limits.h"
#include "tests/inheritable_sockets.h"
#include "tests/no_descriptors.h"

namespace fibocast {
namespace {

using boost::asio::ip::tcp;

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() : server_(io_, {boost::asio::ip::make_address("127.0.0.1"), 0}, handlers()) { server_.start(); }

  HttpServer::Handlers handlers() {
    return {.on_get =
                [this](std::string_view path, const HttpServer::Respond& respond) {
                  paths_.emplace_back(path);
                  if (path == "/large")
                    return respond({200, "text/plain", std::string(metrics_limits::kAnswerBytes + 1, 'x')});
                  respond(path == "/" ? HttpAnswer{200, "text/plain", "hello"} : HttpAnswer{404, "text/plain", "no"});
                },
            .is_host_allowed = [](std::string_view host) { return host == "here"; },
            .on_last_closed = [this] { ++emptied_; }};
  }
  std::unique_ptr<tcp::socket> connect() {
    auto socket = std::make_unique<tcp::socket>(io_);
    socket->connect(server_.endpoint());
    return socket;
  }
  // All that the server says to these bytes until it closes, or has nothing left to do for a while.
  std::string say(const std::string& bytes, bool then_end = true) {
    auto socket = connect();
    boost::system::error_code ignored;
    boost::asio::write(*socket, boost::asio::buffer(bytes), ignored);
    if (then_end) socket->shutdown(tcp::socket::shutdown_send, ignored);
    return hear(*socket);
  }
  std::string hear(tcp::socket& socket) {
    std::string heard;
    bool over = false;
    boost::asio::async_read(socket, boost::asio::dynamic_buffer(heard),
                            [&over](const boost::system::error_code&, std::size_t) { over = true; });
    while (!over) io_.run_one_for(std::chrono::seconds(30));
    return heard;
  }
  std::string get(const std::string& path, const std::string& more = {}) {
    return say("GET " + path + " HTTP/1.1\r\nHost: here\r\nConnection: close\r\n" + more + "\r\n");
  }
  static int status_of(const std::string& answer) {
    return answer.starts_with("HTTP/1.1 ") ? std::stoi(answer.substr(9, 3)) : 0;
  }

  boost::asio::io_context io_;
  std::vector<std::string> paths_;
  int emptied_ = 0;
  HttpServer server_;
};

TEST_F(HttpServerTest, AnswersWithSecurityHeaders) {
  const std::string answer = get("/?x=1");
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_TRUE(answer.ends_with("\r\n\r\nhello")) << answer;
  EXPECT_NE(answer.find("Content-Security-Policy: default-src 'none'"), std::string::npos);
  EXPECT_NE(answer.find("X-Content-Type-Options: nosniff"), std::string::npos);
  EXPECT_EQ(paths_, std::vector<std::string>{"/"});
  EXPECT_EQ(server_.connections(), 0u);
  EXPECT_EQ(emptied_, 1);
}

TEST_F(HttpServerTest, HeadHasTheLengthAndNoBody) {
  const std::string answer = say("HEAD / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_NE(answer.find("Content-Length: 5\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
}

TEST_F(HttpServerTest, KeepsAConnectionForSeveralRequests) {
  const std::string request = "GET / HTTP/1.1\r\nHost: here\r\n\r\n";
  const std::string answer = say(request + request + request);
  EXPECT_EQ(paths_.size(), 3u);
  EXPECT_EQ(server_.counters().requests, 3u);
}

TEST_F(HttpServerTest, RefusesAsUsual) {
  EXPECT_EQ(status_of(get("/none")), 404);
  EXPECT_EQ(status_of(say("POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 3\r\n\r\nabc")), 405);
  EXPECT_EQ(status_of(say("BREW / HTTP/1.1\r\nHost: here\r\n\r\n")), 405);
  EXPECT_EQ(status_of(get("/", "Content-Length: 3\r\n")), 413);
  EXPECT_EQ(status_of(get("/", "Transfer-Encoding: chunked\r\n")), 413);
  EXPECT_EQ(status_of(say("GET / HTTP/1.1\r\nHost: elsewhere\r\n\r\n")), 403);
  EXPECT_EQ(status_of(say("GET / HTTP/1.1\r\n\r\n")), 403);
  EXPECT_EQ(status_of(get("/large")), 503);
  EXPECT_EQ(server_.counters().requests, 0u);
  EXPECT_EQ(server_.counters().refused, 8u);
  EXPECT_EQ(paths_, (std::vector<std::string>{"/none", "/large"}));
}

TEST_F(HttpServerTest, ARequestHasABoundedSize) {
  EXPECT_EQ(status_of(get("/", "X-Long: " + std::string(metrics_limits::kRequestBytes, 'x') + "\r\n")), 431);
  EXPECT_EQ(status_of(say("GET /" + std::string(100'000, 'x'))), 431);
  std::string many;
  for (int i = 0; i < 5'000; ++i) many += "A: b\r\n";
  EXPECT_EQ(status_of(get("/", many)), 431);
}

TEST_F(HttpServerTest, GarbageEndsTheConnectionAndNothingElse) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string bytes = i % 3 == 0 ? "GET / HTTP/1.1\r\nHost: here\r\n" : "";
    for (std::size_t n = random() % 300; n > 0; --n) bytes += static_cast<char>(random());
    const std::string answer = say(bytes);
    EXPECT_NE(status_of(answer), 200) << i;
  }
  EXPECT_EQ(server_.connections(), 0u);
  EXPECT_EQ(status_of(get("/")), 200);
}

TEST_F(HttpServerTest, ABoundedNumberOfConnections) {
  std::vector<std::unique_ptr<tcp::socket>> open;
  for (std::size_t i = 0; i < metrics_limits::kConnections; ++i) open.push_back(connect());
  const std::string answer = say("", false);
  EXPECT_EQ(status_of(answer), 503);
  EXPECT_NE(answer.find("Retry-After: 1"), std::string::npos) << answer;
  EXPECT_EQ(server_.counters().turned_away, 1u);
  EXPECT_LE(server_.connections(), metrics_limits::kConnections);
  open.pop_back();
  while (server_.connections() == metrics_limits::kConnections) io_.run_one();
  EXPECT_EQ(status_of(get("/")), 200);
}

TEST_F(HttpServerTest, RestsWhileItHasNoDescriptorsAndAcceptsThen) {
  const auto socket = connect();
  {
    const NoDescriptors none;
    EXPECT_TRUE(comes_to_rest(io_));
    EXPECT_EQ(server_.connections(), 0u);
  }
  while (server_.connections() == 0) io_.run_one();
}

TEST_F(HttpServerTest, NoProgramInheritsItsSockets) {
  const auto socket = connect();
  while (server_.connections() == 0) io_.run_one();
  EXPECT_EQ(inheritable_sockets(), std::set<int>{socket->native_handle()});
}

TEST_F(HttpServerTest, WhoIsConnectedWhenItStopsIsClosed) {
  const auto socket = connect();
  while (server_.connections() == 0) io_.run_one();
  server_.stop();
  EXPECT_EQ(hear(*socket), "");
  EXPECT_EQ(server_.connections(), 0u);
}

}  // namespace
}  // namespace fibocast
