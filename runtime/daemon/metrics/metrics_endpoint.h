// Metrics and status page of a daemon: which path has which answer. See runtime/README.md.
#pragma once

#include <memory>
#include <string>

#include "runtime/daemon/metrics/cluster_view.h"
#include "runtime/daemon/metrics/http_server.h"
#include "runtime/daemon/metrics/metrics_sources.h"

namespace fibocast {

class MetricsEndpoint {
 public:
  // Takes the port of settings.metrics.listen. Throws SettingsError: one sentence. `io`, `host`, `relays` and what
  // `fill_status` needs outlive it; `settings` is read at each answer.
  MetricsEndpoint(boost::asio::io_context& io, const Settings& settings, NodeHost& host, Relays& relays,
                  const OperationMetrics& operations, std::function<void(client::NodeStatus&)> fill_status);

  void start() { server_.start(); }
  void stop() { server_.stop(); }
  // "127.0.0.1:9117": with the port that the system chose.
  std::string address() const;
  // The model has changed.
  void set_model(const Settings& settings) { predictions_ = OperationPredictions(settings); }

 private:
  HttpServer::Handlers handlers();
  void answer(std::string_view path, const HttpServer::Respond& respond);
  bool is_host_allowed(std::string_view host) const;
  std::string metrics() const;

  const Settings& settings_;
  OperationPredictions predictions_;
  MetricsSources sources_;
  ClusterView cluster_;
  HttpServer server_;
};

}  // namespace fibocast
