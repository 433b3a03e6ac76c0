#include "runtime/daemon/metrics/metrics_endpoint.h"

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <sstream>
#include <utility>

#include "runtime/daemon/metrics/metrics_text.h"
#include "runtime/daemon/metrics/page_files.h"
#include "runtime/daemon/metrics/status_json.h"
#include "runtime/daemon/settings_loader.h"

namespace fibocast {
namespace {

using boost::asio::ip::tcp;

constexpr const char* kJson = "application/json";
constexpr const char* kMetricsText = "text/plain; version=0.0.4; charset=utf-8";

tcp::endpoint find_endpoint(boost::asio::io_context& io, const std::string& listen) {
  const HostPort parts = *parse_host_port(listen);
  boost::system::error_code error;
  const auto found = tcp::resolver(io).resolve(parts.host, std::to_string(parts.port), error);
  if (error || found.empty())
    throw SettingsError("metrics.listen: there is no host " + parts.host + " (" + error.message() +
                        "); give an address of this host, as 127.0.0.1:9117");
  return *found.begin();
}

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_of(std::string_view host) {
  const auto with_port = parse_host_port(std::string(host));
  if (with_port) return with_port->host;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') return std::string(host.substr(1, host.size() - 2));
  return std::string(host);
}

}  // namespace

MetricsEndpoint::MetricsEndpoint(boost::asio::io_context& io, const Settings& settings, NodeHost& host, Relays& relays,
                                 const OperationMetrics& operations,
                                 std::function<void(client::NodeStatus&)> fill_status) try
    : settings_(settings),
      predictions_(settings),
      sources_{host, settings, operations, predictions_, std::move(fill_status), unix_time()},
      cluster_(io, sources_, relays),
      server_(io, find_endpoint(io, settings.metrics.listen), handlers()) {
} catch (const boost::system::system_error& error) {
  throw SettingsError("metrics.listen: cannot listen on " + settings.metrics.listen + " (" + error.code().message() +
                      "); give another address or port, or port 0");
}

HttpServer::Handlers MetricsEndpoint::handlers() {
  return {.on_get = [this](std::string_view path, const HttpServer::Respond& respond) { answer(path, respond); },
          .is_host_allowed = [this](std::string_view host) { return is_host_allowed(host); },
          .on_last_closed = [this] { cluster_.forget(); }};
}

std::string MetricsEndpoint::address() const {
  std::ostringstream text;
  text << server_.endpoint();
  return text.str();
}

// Where the address is loopback, a name that is not is somebody's who lets it stand for 127.0.0.1 (DNS rebinding).
bool MetricsEndpoint::is_host_allowed(std::string_view host) const {
  return settings_.metrics.is_public || is_loopback(host_of(host));
}

std::string MetricsEndpoint::metrics() const {
  std::string text = metrics_text(sources_);
  const HttpCounters& counters = server_.counters();
  MetricFamilies own;
  own.counters("http_requests_total", "Requests to this endpoint that were answered.");
  own.add(static_cast<double>(counters.requests));
  own.counters("http_refused_total", "Requests to this endpoint that were refused.");
  own.add(static_cast<double>(counters.refused));
  own.counters("http_turned_away_total", "Connections to this endpoint beyond the limit.");
  own.add(static_cast<double>(counters.turned_away));
  own.counters("http_timed_out_total", "Connections to this endpoint that were too slow.");
  own.add(static_cast<double>(counters.timed_out));
  return text + own.text();
}

void MetricsEndpoint::answer(std::string_view path, const HttpServer::Respond& respond) {
  if (path == "/metrics") return respond({200, kMetricsText, metrics()});
  if (path == "/status.json") return respond({200, kJson, status_json(sources_)});
  if (path == "/cluster.json") return cluster_.ask([respond](const std::string& json) { respond({200, kJson, json}); });
  if (const PageFile* file = find_page_file(path))
    return respond({200, std::string(file->type), std::string(file->bytes)});
  respond({404, "text/plain; charset=utf-8", "there is /, /metrics, /status.json and /cluster.json\n"});
}

}  // namespace fibocast
