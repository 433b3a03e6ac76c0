#include "runtime/daemon/metrics/http_server.h"

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/daemon/metrics/metrics_limits.h"
#include "transport/close_on_exec.h"

namespace fibocast {
namespace {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using boost::beast::error_code;
using HttpResponse = http::response<http::string_body>;

// The page needs its own files only, and nobody else may show it in a frame.
constexpr const char* kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

HttpAnswer refusal(unsigned status, std::string sentence) {
  return {status, "text/plain; charset=utf-8", sentence + "\n"};
}

void set_fields(HttpResponse& response) {
  response.set(http::field::server, "fibocastd");
  response.set(http::field::cache_control, "no-store");
  response.set("Content-Security-Policy", kContentPolicy);
  response.set("X-Content-Type-Options", "nosniff");
  response.set("X-Frame-Options", "DENY");
  response.set("Referrer-Policy", "no-referrer");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  if (response.result() == http::status::method_not_allowed) response.set(http::field::allow, "GET, HEAD");
  if (response.result() == http::status::service_unavailable) response.set(http::field::retry_after, "1");
}

}  // namespace

class HttpServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, HttpServer& server)
      : stream_(std::move(socket)), server_(&server), buffer_(metrics_limits::kRequestBytes) {}

  // One whole time for a request: who sends a byte now and then does not get more.
  void read() {
    parser_.emplace();
    parser_->header_limit(metrics_limits::kRequestBytes);
    parser_->body_limit(0);
    stream_.expires_after(metrics_limits::kRequestPatience);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](error_code error, std::size_t) { self->on_read(error); });
  }
  void turn_away() {
    keep_alive_ = false;
    respond(refusal(503, "this daemon answers " + std::to_string(metrics_limits::kConnections) +
                             " connections at a time; try it again"));
  }
  // The server does not know it any more.
  void close() {
    server_ = nullptr;
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

 private:
  void on_read(error_code error) {
    if (!server_) return;
    if (error == boost::beast::error::timeout) ++server_->counters_.timed_out;
    if (error == boost::beast::error::timeout || error == http::error::end_of_stream) return end();
    if (error && error.category() != http::make_error_code(http::error::bad_method).category()) return end();
    const auto& request = parser_->get();
    keep_alive_ = !error && request.keep_alive();
    is_head_ = request.method() == http::verb::head;
    if (const auto refused = find_fault(error)) return respond(*refused);
    const std::string target = request.target();
    server_->handlers_.on_get(std::string_view(target).substr(0, target.find('?')),
                              [self = shared_from_this()](HttpAnswer answer) { self->respond(std::move(answer)); });
  }

  // What is no request that can be answered ends the connection after the answer, for what follows is unknown.
  std::optional<HttpAnswer> find_fault(error_code error) {
    const auto& request = parser_->get();
    const bool has_body = !error && (parser_->chunked() || parser_->content_length().value_or(0) > 0);
    if (error || has_body) keep_alive_ = false;
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      return refusal(431, "a request has at most " + std::to_string(metrics_limits::kRequestBytes) + " bytes");
    if (error && error != http::error::body_limit) return refusal(400, "this is no HTTP request");
    if (request.method() != http::verb::get && !is_head_) {
      keep_alive_ = false;
      return refusal(405, "only GET and HEAD");
    }
    if (error || has_body) return refusal(413, "a request has no body here");
    if (!server_->handlers_.is_host_allowed(
            std::string_view(request[http::field::host].data(), request[http::field::host].size())))
      return refusal(403, "this daemon answers for its own address only: use that, or localhost, in the URL");
    return {};
  }

  void respond(HttpAnswer answer) {
    if (!server_) return;
    if (answer.body.size() > metrics_limits::kAnswerBytes)
      answer =
          refusal(503, "the answer would be larger than " + std::to_string(metrics_limits::kAnswerBytes) + " bytes");
    ++(answer.status == 200 ? server_->counters_.requests : server_->counters_.refused);
    response_.emplace();
    response_->version(11);
    response_->result(answer.status);
    response_->set(http::field::content_type, answer.type);
    set_fields(*response_);
    response_->keep_alive(keep_alive_);
    response_->content_length(answer.body.size());
    if (!is_head_) response_->body() = std::move(answer.body);
    stream_.expires_after(metrics_limits::kAnswerPatience);
    http::async_write(stream_, *response_,
                      [self = shared_from_this()](error_code error, std::size_t) { self->on_written(error); });
  }

  void on_written(error_code error) {
    if (!server_) return;
    response_.reset();
    if (error == boost::beast::error::timeout) ++server_->counters_.timed_out;
    if (!error && keep_alive_) return read();
    end();
  }

  void end() {
    HttpServer* server = server_;
    const auto self = shared_from_this();
    close();
    server->on_closed(self);
  }

  boost::beast::tcp_stream stream_;
  HttpServer* server_;  // null: closed
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::optional<HttpResponse> response_;
  bool keep_alive_ = false, is_head_ = false;
};

HttpServer::HttpServer(boost::asio::io_context& io, const tcp::endpoint& listen, Handlers handlers)
    : io_(io),
      handlers_(std::move(handlers)),
      acceptor_(io, listen),
      accept_pause_(io),
      endpoint_(acceptor_.local_endpoint()) {
  close_on_exec(acceptor_.native_handle());
}

HttpServer::~HttpServer() { stop(); }

void HttpServer::start() { accept_more(); }

void HttpServer::stop() {
  error_code ignored;
  acceptor_.close(ignored);
  accept_pause_.cancel();
  for (const auto& connection : std::exchange(connections_, {})) connection->close();
}

void HttpServer::accept_more() {
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    if (error == boost::asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (error) return pause_accepting();
    admit(std::move(socket));
    accept_more();
  });
}

void HttpServer::pause_accepting() {
  accept_pause_.begin([this] {
    if (acceptor_.is_open()) accept_more();
  });
}

// One more than the limit is let in to be told so; while even that one is there, nobody.
void HttpServer::admit(tcp::socket socket) {
  close_on_exec(socket.native_handle());
  const std::size_t open = connections_.size();
  if (open >= metrics_limits::kConnections) ++counters_.turned_away;
  if (open > metrics_limits::kConnections) return;
  const auto connection = std::make_shared<Connection>(std::move(socket), *this);
  connections_.insert(connection);
  open == metrics_limits::kConnections ? connection->turn_away() : connection->read();
}

void HttpServer::on_closed(const std::shared_ptr<Connection>& connection) {
  connections_.erase(connection);
  if (connections_.empty()) handlers_.on_last_closed();
}

}  // namespace fibocast
