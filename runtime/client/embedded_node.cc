#include "runtime/client/embedded_node.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <future>
#include <semaphore>
#include <thread>
#include <utility>

#include "runtime/client/embedded_host.h"
#include "runtime/client/translate.h"
#include "runtime/client/turns.h"
#include "runtime/daemon/make_transport.h"
#include "runtime/daemon/node_status.h"
#include "runtime/daemon/settings.h"

namespace fibocast {
namespace {

constexpr std::chrono::seconds kNamePatience{60};
constexpr std::chrono::milliseconds kSettleTick{1};
constexpr int kSettleTicks = 500;

Settings::ModelSection model_of(const NodeModel& model) {
  return {.s_ns = model.s,
          .l_ns = model.l,
          .o_ns = model.o,
          .r_ns = 0,
          .send_per_byte_ns = model.send_per_byte,
          .receive_per_byte_ns = model.receive_per_byte,
          .processors = model.processors,
          .wake_ns = model.wake,
          .measured = model.measured};
}

Settings settings_of(const EmbeddedNode::Options& options) {
  Settings settings;
  settings.node.rank = options.rank;
  settings.cluster.name = options.cluster;
  settings.cluster.nodes = options.nodes;
  settings.cluster.transport = options.tcp ? TransportKind::kTcp : TransportKind::kUdp;
  settings.cluster.local = options.local;
  if (options.model) settings.model = model_of(*options.model);
  settings.limits = options.limits;
  settings.security.key_file = options.key_file;
  if (options.insecure) settings.security.mode = SecurityMode::kInsecure;
  return settings;
}

void refuse(const std::optional<SettingsMistake>& mistake) {
  if (mistake) throw std::invalid_argument(mistake->key + " " + mistake->sentence);
}

// What options cannot say together, beside what settings cannot.
void check(const EmbeddedNode::Options& options) {
  if (!options.key_text.empty() && (options.insecure || !options.key_file.empty()))
    throw std::invalid_argument("key_text is given beside key_file or insecure; leave one of them out");
  if (options.socket >= 0 && options.tcp)
    throw std::invalid_argument("socket is given, but the node is to use TCP; leave one of them out");
}

std::optional<KeyRing> keys_of(const EmbeddedNode::Options& options, const Settings& settings) {
  return options.key_text.empty() ? load_keys(settings) : KeyRing::parse(options.key_text);
}

NodeSettings node_settings(const Settings& settings, ClusterTransport& transport) {
  NodeSettings node;
  node.self = settings.node.rank;
  node.nodes = static_cast<std::uint32_t>(settings.cluster.nodes.size());
  node.incarnation = transport.incarnation;
  node.cluster_digest = cluster_digest(settings);
  node.plan = GroupPlanner(settings).plan(node.nodes);
  node.ahead_bytes = ahead_bytes(settings);
  return node;
}

EmbeddedRequest operate_request(const OperationCall& call) {
  return {.kind = EmbeddedRequest::Kind::kOperate, .call = call};
}

EmbeddedRequest send_request(const SendCall& call) {
  return {.kind = EmbeddedRequest::Kind::kSend,
          .try_only = call.try_only,
          .call = {.payload = call.bytes, .deadline = call.deadline},
          .to = call.to,
          .tag = call.tag};
}

EmbeddedRequest receive_request(std::uint64_t tag, Duration deadline) {
  return {.kind = EmbeddedRequest::Kind::kReceive, .call = {.deadline = deadline}, .tag = tag};
}

Received to_received(Outcome&& outcome, Rank from) {
  return {std::move(outcome.status), from, std::move(outcome.payload)};
}

// The caller goes on at once: the request keeps its own copies of what the call points to.
void own_all(EmbeddedRequest& request) {
  OperationCall& call = request.call;
  request.owned = std::make_unique<EmbeddedRequest::Owned>();
  EmbeddedRequest::Owned& owned = *request.owned;
  call.group = owned.group = call.group;
  if (call.options != nullptr) owned.options = *call.options, call.options = &owned.options;
  owned.payload.assign(call.payload.begin(), call.payload.end());
  call.payload = owned.payload;
}

}  // namespace

// Members are made in this order and unmade in the other: the host before its transport and event loop.
struct EmbeddedNode::State {
  explicit State(const Options& options)
      : settings(settings_of(options)),
        executor(options.executor ? *options.executor : boost::asio::any_io_executor(context.get_executor())) {
    check(options);
    refuse(complete_settings(settings));
    auto keys = keys_of(options, settings);
    const auto nodes = resolve_nodes(context, settings.cluster.nodes, kNamePatience, [](const std::string&) {});
    transport = make_transport(
        context, settings, nodes, std::move(keys), [](const std::string&) {}, options.socket);
    host = std::make_unique<EmbeddedHost>(context, transport.top(), settings.limits, node_settings(settings, transport),
                                          options.default_deadline.count(), GroupPlanner(settings));
    host->host().set_nodes_of_this_host(shared_hosts(settings).nodes);
    turns = std::make_unique<Turns>(
        context, host->host(), Turns::between_calls(host->host().nodes_of_a_core(), settings.suspicion_ms * 1'000'000));
    host->start();
    thread = std::thread([this] { turns->run(); });
  }
  ~State() {
    run_there([this] { host->cancel_all(); });
    turns->need_thread();
    const auto settled = std::make_shared<std::promise<void>>();
    boost::asio::post(context, [this, settled] { settle(kSettleTicks, settled); });
    settled->get_future().wait();
    host->stop();
    thread.join();
    host->stop();  // a timer that had gone off already may have armed itself again
    for (int i = 0; i < 2; ++i) {
      context.restart();
      context.poll();  // handlers that were cancelled lie in the host's memory: they go before it does
    }
  }

  // Others may wait for what this node has sent last: it stays until they have it, or for half a second.
  void settle(int ticks_left, const std::shared_ptr<std::promise<void>>& settled) {
    if (ticks_left == 0 || host->host().node().is_settled()) return settled->set_value();
    settle_timer.expires_after(kSettleTick);
    settle_timer.async_wait(
        [this, ticks_left, settled](const boost::system::error_code&) { settle(ticks_left - 1, settled); });
  }

  // Runs `work` in this thread if the node is free, else in the node's, and waits until it is done.
  template <class Work>
  void run_there(Work work) {
    if (turns->is_mine()) return work();
    if (turns->begin()) {
      work();
      turns->catch_up(monotonic_now());
      return turns->end();
    }
    std::binary_semaphore done(0);
    turns->need_thread();
    boost::asio::post(context, [&] {
      work();
      done.release();
    });
    done.acquire();
    turns->release_thread();
  }

  // One thread waits for its end, in whatever thread that comes.
  struct BlockingCall {
    Outcome& outcome;
    Rank from = kNoRank;
    bool drives = false;  // the thread that waits drives the node: nobody else ends the call
    bool ended_here = false;
    std::binary_semaphore told{0};  // to tell it is a system call, even if nobody waits

    void end(Outcome&& with, Rank sender) {
      outcome = std::move(with);
      from = sender;
      if (drives)
        ended_here = true;
      else
        told.release();
    }
  };

  // Hands over a request and waits for its end: this thread drives the node meanwhile, if it may. Returns whom a
  // message is from.
  Rank run(EmbeddedRequest request, Outcome& outcome) {
    BlockingCall call{outcome};
    request.on_end = [&call](Outcome&& with, Rank from) { call.end(std::move(with), from); };
    if (turns->begin()) {
      call.drives = true;
      host->take(request);
      turns->drive([&call] { return call.ended_here; });
      turns->catch_up(host->host().now());  // the time of its last step; this may end the call as well
      call.drives = false;
      turns->end();  // from here on others may
      if (call.ended_here) return call.from;
      turns->need_thread();
    } else if (turns->is_mine()) {
      outcome.status = {Code::kInvalid, "a handler on the node's own thread must not make a blocking call", {}};
      return kNoRank;
    } else {
      turns->need_thread();
      boost::asio::post(context, [this, &request] { host->take(request); });
    }
    call.told.acquire();
    turns->release_thread();
    return call.from;
  }
  Outcome run(EmbeddedRequest request) {
    Outcome outcome;
    run(std::move(request), outcome);
    return outcome;
  }

  // The node's thread is needed until the request has ended: its handler runs there.
  void start(EmbeddedRequest request) {
    auto own = std::make_unique<EmbeddedRequest>(std::move(request));
    own_all(*own);
    own->on_end = [this, on_end = std::move(own->on_end)](Outcome&& outcome, Rank from) {
      on_end(std::move(outcome), from);
      turns->release_thread();
    };
    turns->need_thread();
    boost::asio::post(context, [this, own = std::move(own)]() mutable {
      EmbeddedRequest& taken = *own;
      taken.self = std::move(own);
      host->take(taken);
    });
  }

  Settings settings;
  boost::asio::io_context context{1};
  boost::asio::steady_timer settle_timer{context};
  boost::asio::any_io_executor executor;
  ClusterTransport transport;
  std::unique_ptr<EmbeddedHost> host;
  std::unique_ptr<Turns> turns;
  std::thread thread;
};

Result<std::shared_ptr<EmbeddedNode>> EmbeddedNode::start(const Options& options) {
  try {
    return std::shared_ptr<EmbeddedNode>(new EmbeddedNode(std::make_unique<State>(options)));
  } catch (const std::exception& error) {
    return Status{Code::kInvalid, error.what(), {}};
  }
}

EmbeddedNode::EmbeddedNode(std::unique_ptr<State> state) : state_(std::move(state)) {}
EmbeddedNode::~EmbeddedNode() = default;

NodeId EmbeddedNode::rank() const { return state_->settings.node.rank; }
std::uint32_t EmbeddedNode::size() const { return static_cast<std::uint32_t>(state_->settings.cluster.nodes.size()); }
boost::asio::any_io_executor EmbeddedNode::executor() { return state_->executor; }

Result<NodeInfo> EmbeddedNode::status() {
  client::Response response;
  state_->run_there([&] {
    fill_node_status(state_->host->host().node(), state_->settings, *response.mutable_node_status());
    add_transport_counters(state_->transport.counters(), *response.mutable_node_status());
    if (state_->transport.local) add_local_counters(*state_->transport.local, *response.mutable_node_status());
  });
  return decode_node_info(response);
}

Status EmbeddedNode::do_create_group(const GroupRequest& group) {
  return state_->run({.kind = EmbeddedRequest::Kind::kCreate, .create = &group}).status;
}

Status EmbeddedNode::plan_group(const GroupRequest& group) {
  return state_->run({.kind = EmbeddedRequest::Kind::kPlan, .create = &group}).status;
}

Status EmbeddedNode::remove_group(std::string_view name) {
  Status status;
  state_->run_there([&] { status = state_->host->remove_group(name); });
  return status;
}

Result<GroupInfo> EmbeddedNode::do_open(std::string_view name, std::uint32_t participants) {
  Result<GroupInfo> result = Status{};
  state_->run_there([&] { result = state_->host->open(name, participants); });
  return result;
}

Outcome EmbeddedNode::do_operate(const OperationCall& call) { return state_->run(operate_request(call)); }

void EmbeddedNode::start_operate(const OperationCall& call, Completion<Outcome> done) {
  EmbeddedRequest request = operate_request(call);
  request.on_end = [d = std::make_shared<Completion<Outcome>>(std::move(done))](Outcome&& outcome, Rank) {
    (*d)(std::move(outcome));
  };
  state_->start(std::move(request));
}

Status EmbeddedNode::do_send(const SendCall& call) { return state_->run(send_request(call)).status; }

void EmbeddedNode::start_send(const SendCall& call, Completion<Status> done) {
  EmbeddedRequest request = send_request(call);
  request.on_end = [d = std::make_shared<Completion<Status>>(std::move(done))](Outcome&& outcome, Rank) {
    (*d)(std::move(outcome.status));
  };
  state_->start(std::move(request));
}

Received EmbeddedNode::do_receive(std::uint64_t tag, Duration deadline) {
  Outcome outcome;
  const Rank from = state_->run(receive_request(tag, deadline), outcome);
  return to_received(std::move(outcome), from);
}

void EmbeddedNode::start_receive(std::uint64_t tag, Duration deadline, Completion<Received> done) {
  EmbeddedRequest request = receive_request(tag, deadline);
  request.on_end = [d = std::make_shared<Completion<Received>>(std::move(done))](Outcome&& outcome, Rank from) {
    (*d)(to_received(std::move(outcome), from));
  };
  state_->start(std::move(request));
}

}  // namespace fibocast
