#include "runtime/daemon/metrics/cluster_view.h"

#include <algorithm>
#include <boost/asio/local/connect_pair.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/daemon/metrics/status_json.h"
#include "runtime/wire/client_codec.h"
#include "runtime/wire/frame_buffer.h"
#include "transport/close_on_exec.h"

namespace fibocast {

using ClusterJson = nlohmann::ordered_json;

// One daemon, asked through a relay: Hello and GetStatus at once, then two answers.
class ClusterView::Question : public std::enable_shared_from_this<Question> {
 public:
  using Done = std::function<void(const client::NodeStatus*)>;
  explicit Question(boost::asio::io_context& io) : socket_(io), received_(metrics_limits::kNodeAnswerBytes, 0) {}

  // False: there is no room for one more relay.
  bool start(boost::asio::io_context& io, Relays& relays, NodeId to, Done done) {
    done_ = std::move(done);
    Relay::Socket far(io);
    boost::system::error_code error;
    boost::asio::local::connect_pair(socket_, far, error);
    if (error) return false;
    close_on_exec(socket_.native_handle());
    const std::string words = words_for(to);
    if (!relays.open(far, to, std::as_bytes(std::span(words)))) return false;
    read_more();
    return true;
  }
  void stop() {
    done_ = nullptr;
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

 private:
  static std::string words_for(NodeId to) {
    client::Request hello, ask;
    hello.set_id(1), ask.set_id(2);
    hello.mutable_hello()->set_major(kClientMajor);
    hello.mutable_hello()->set_minor(kClientMinor);
    hello.mutable_hello()->set_program("status page");
    hello.mutable_hello()->set_node(to);
    hello.mutable_hello()->set_status_only(true);
    ask.mutable_get_status();
    std::string words;
    append_frame(hello, words);
    append_frame(ask, words);
    return words;
  }
  void read_more() {
    const std::span<std::byte> room = received_.prepare();
    socket_.async_read_some(boost::asio::buffer(room.data(), room.size()),
                            [self = shared_from_this()](const boost::system::error_code& error, std::size_t bytes) {
                              self->on_read(error, bytes);
                            });
  }
  void on_read(const boost::system::error_code& error, std::size_t bytes) {
    if (!done_) return;
    if (error) return end(nullptr);
    received_.commit(bytes);
    std::span<const std::byte> frame;
    for (;;) {
      const FrameBuffer::Next next = received_.next(frame);
      if (next == FrameBuffer::Next::kMore) return read_more();
      client::Response response;
      if (next == FrameBuffer::Next::kGarbage || !response.ParseFromArray(frame.data(), static_cast<int>(frame.size())))
        return end(nullptr);
      if (response.id() == 2) return end(response.has_node_status() ? &response.node_status() : nullptr);
      received_.consume();
    }
  }
  void end(const client::NodeStatus* status) {
    const auto self = shared_from_this();
    const Done done = std::exchange(done_, nullptr);
    stop();
    done(status);
  }

  Relay::Socket socket_;
  FrameBuffer received_;
  Done done_;
};

ClusterView::ClusterView(boost::asio::io_context& io, MetricsSources sources, Relays& relays)
    : io_(io), sources_(std::move(sources)), relays_(relays), timer_(io) {}

ClusterView::~ClusterView() {
  for (const auto& question : asked_) question->stop();
}

void ClusterView::ask(Take take) {
  const auto now = std::chrono::steady_clock::now();
  if (!answer_.empty() && now - answered_at_ < metrics_limits::kClusterAge) return take(answer_);
  waiting_.push_back(std::move(take));
  if (!asking_) begin();
}

void ClusterView::forget() {
  if (!asking_) answer_ = {};
}

std::string ClusterView::address_of(NodeId rank) const { return sources_.settings.cluster.nodes[rank]; }

void ClusterView::begin() {
  asking_ = true;
  client::NodeStatus own;
  sources_.fill_status(own);
  nodes_.assign(own.size(), {});
  nodes_[own.rank()] = cluster_node_json(own, address_of(own.rank())).dump();
  to_ask_.clear();
  for (const client::PeerStatus& peer : own.peers()) {
    nodes_[peer.rank()] =
        ClusterJson{{"rank", peer.rank()}, {"address", peer.address()}, {"state", peer.state()}}.dump();
    if (peer.state() == "connected") to_ask_.push_back(peer.rank());
  }
  std::reverse(to_ask_.begin(), to_ask_.end());  // the last one is next
  timer_.expires_after(metrics_limits::kClusterPatience);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) finish();
  });
  ask_next();
}

void ClusterView::ask_next() {
  sources_.host.read_clock();
  while (!to_ask_.empty() && asked_.size() < metrics_limits::kAskedAtOnce) {
    const NodeId rank = to_ask_.back();
    to_ask_.pop_back();
    const auto question = std::make_shared<Question>(io_);
    const auto done = [this, rank, asked = question.get()](const client::NodeStatus* status) {
      std::erase_if(asked_, [asked](const auto& other) { return other.get() == asked; });
      on_answer(rank, status);
    };
    if (question->start(io_, relays_, rank, done)) asked_.push_back(question);  // else: connected, without an answer
  }
  sources_.host.pump();
  if (asked_.empty() && to_ask_.empty()) finish();
}

void ClusterView::on_answer(NodeId rank, const client::NodeStatus* status) {
  if (status && status->rank() == rank) nodes_[rank] = cluster_node_json(*status, address_of(rank)).dump();
  ask_next();
}

void ClusterView::finish() {
  if (!asking_) return;
  asking_ = false;
  timer_.cancel();
  for (const auto& question : std::exchange(asked_, {})) question->stop();
  to_ask_.clear();
  answer_ = "{\"nodes\":[";
  for (std::size_t i = 0; i < nodes_.size(); ++i) answer_ += (i == 0 ? "" : ",") + nodes_[i];
  answer_ += "]}";
  nodes_.clear();
  answered_at_ = std::chrono::steady_clock::now();
  for (const Take& take : std::exchange(waiting_, {})) take(answer_);
}

}  // namespace fibocast
