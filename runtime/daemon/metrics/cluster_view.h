// What all daemons of the cluster say of themselves, for the status page of one: it asks each that is connected, as a
// client of a client's daemon would (relay.h), a few at a time, and keeps the answer for a second. Does nothing unless
// somebody asks.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/daemon/metrics/metrics_sources.h"
#include "runtime/daemon/relays.h"

namespace fibocast {

// One thread: that of the host.
class ClusterView {
 public:
  using Take = std::function<void(const std::string& json)>;
  ClusterView(boost::asio::io_context& io, MetricsSources sources, Relays& relays);
  ~ClusterView();
  ClusterView(const ClusterView&) = delete;
  ClusterView& operator=(const ClusterView&) = delete;

  // The answer, not older than a second: at once, or when all have answered or had their time.
  void ask(Take take);
  // Nobody looks any more: keeps nothing.
  void forget();

 private:
  class Question;
  void begin();
  void ask_next();
  void on_answer(NodeId rank, const client::NodeStatus* status);
  void finish();
  std::string address_of(NodeId rank) const;

  boost::asio::io_context& io_;
  MetricsSources sources_;
  Relays& relays_;
  boost::asio::steady_timer timer_;
  std::vector<Take> waiting_;
  std::vector<NodeId> to_ask_;
  std::vector<std::shared_ptr<Question>> asked_;
  std::vector<std::string> nodes_;  // JSON of each, by rank
  bool asking_ = false;
  std::string answer_;
  std::chrono::steady_clock::time_point answered_at_{};
};

}  // namespace fibocast
