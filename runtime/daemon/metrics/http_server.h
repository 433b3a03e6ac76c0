// A small HTTP/1.1 server for answers that are made when somebody asks: GET and HEAD without a body, a bounded number
// of connections, each with a bounded request and bounded patience. It runs on the io_context that it is given, and has
// nothing to do, no timer either, while nobody is connected.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "transport/accept_pause.h"

namespace fibocast {

struct HttpAnswer {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

struct HttpCounters {
  std::uint64_t requests = 0;     // that were answered with 200
  std::uint64_t refused = 0;      // ... or otherwise: no such path, another method, what is no HTTP
  std::uint64_t turned_away = 0;  // connections beyond the limit
  std::uint64_t timed_out = 0;    // connections closed because they said nothing whole, or did not read
};

// One thread: that of the io_context, which outlives it.
class HttpServer {
 public:
  using Respond = std::function<void(HttpAnswer)>;
  struct Handlers {
    // `path` is without a query. Responds once, at once or later.
    std::function<void(std::string_view path, Respond)> on_get;
    // May a request that names this host be answered? A page of another site must not read ours by a name of its own.
    std::function<bool(std::string_view host)> is_host_allowed;
    std::function<void()> on_last_closed = [] {};  // nobody is connected any more
  };

  // Takes the port. Throws boost::system::system_error.
  HttpServer(boost::asio::io_context& io, const boost::asio::ip::tcp::endpoint& listen, Handlers handlers);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  boost::asio::ip::tcp::endpoint endpoint() const { return endpoint_; }
  const HttpCounters& counters() const { return counters_; }
  std::size_t connections() const { return connections_.size(); }
  void start();
  // Closes everything.
  void stop();

 private:
  class Connection;
  void accept_more();
  void pause_accepting();
  void admit(boost::asio::ip::tcp::socket socket);
  void on_closed(const std::shared_ptr<Connection>& connection);

  boost::asio::io_context& io_;
  Handlers handlers_;
  boost::asio::ip::tcp::acceptor acceptor_;
  AcceptPause accept_pause_;
  boost::asio::ip::tcp::endpoint endpoint_;
  std::set<std::shared_ptr<Connection>> connections_;
  HttpCounters counters_;
};

}  // namespace fibocast
