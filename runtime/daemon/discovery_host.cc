#include "runtime/daemon/discovery_host.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "runtime/daemon/security.h"
#include "runtime/daemon/settings_loader.h"
#include "transport/close_on_exec.h"

namespace fibocast {
namespace {

using boost::asio::ip::udp;

constexpr std::chrono::milliseconds kTick{500}, kMemberTick{1000};
constexpr std::chrono::minutes kComplaints{1};
constexpr int kSayNews = 8, kSayAgain = 40;  // ticks

std::int64_t wall_clock_now() {
  return std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

std::string host_name() {
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0) return "-";
  const std::string host = name;
  return host.empty() || host.find_first_of(" \t\r\n") != std::string::npos ? "-" : host;
}

udp::socket open_socket(boost::asio::io_context& io, const Settings& settings, std::uint16_t port) {
  const auto address = resolve_address(io, "node.listen", settings.node.listen).address;
  boost::system::error_code error;
  udp::socket socket(io);
  socket.open(address.is_v6() ? udp::v6() : udp::v4(), error);
  close_on_exec(socket.native_handle());
  if (!error) socket.bind({address, port}, error);
  if (error)
    throw SettingsError("node.discover: port " + std::to_string(port) + " on " + address.to_string() + ": " +
                        error.message() + "; stop what uses it, or give another as dns:NAME:PORT to all daemons");
  socket.non_blocking(true);
  return socket;
}

}  // namespace

DiscoveryHost::DiscoveryHost(boost::asio::io_context& io, const Settings& settings, DiscoveryStore& store,
                             bool was_member, Handlers handlers)
    : cluster_(settings.cluster.name),
      name_(parse_discover(settings.node.discover)->host),
      port_(parse_discover(settings.node.discover)->port),
      store_(store),
      handlers_(std::move(handlers)),
      socket_(open_socket(io, settings, port_)),
      resolver_(io),
      timer_(io),
      discovery_({settings.node.expect, parse_host_port(settings.node.listen)->port, host_name()}, store.state(),
                 was_member,
                 {.send = [this](const Discovery::Address& to, const DiscoveryMessage& message) { send(to, message); },
                  .keep = [this](const DiscoveryState& state) { store_.keep(state); },
                  .random = random_id,
                  .is_connected = [this](NodeId rank) { return handlers_.is_connected(rank); },
                  .on_moved = [this](NodeId rank, const NodeAddress& to) { handlers_.on_moved(rank, to); },
                  .on_replaced = [this] { handlers_.on_replaced(); }}) {
  if (auto keys = load_keys(settings)) seal_.emplace(std::move(*keys), random_id());
}

void DiscoveryHost::start() {
  receive();
  look_up();
  wait();
}

void DiscoveryHost::stop() {
  stopped_ = true;
  boost::system::error_code ignored;
  socket_.close(ignored);
  resolver_.cancel();
  timer_.cancel();
}

void DiscoveryHost::receive() {
  socket_.async_receive_from(boost::asio::buffer(datagram_), from_,
                             [this](const boost::system::error_code& error, std::size_t bytes) {
                               if (stopped_) return;
                               take({datagram_.data(), error ? 0 : bytes});
                               if (!stopped_) receive();
                             });
}

void DiscoveryHost::take(std::string_view datagram) {
  std::string opened;
  if (seal_) {
    opened = seal_->open(datagram, wall_clock_now()).value_or("");
    const std::string complaint = seal_->complaint();
    const auto now = std::chrono::steady_clock::now();
    const bool silent = complained_at_ == std::chrono::steady_clock::time_point{} || now - complained_at_ > kComplaints;
    if (!complaint.empty() && silent) complained_at_ = now, handlers_.on_complaint(complaint);
    datagram = opened;
  }
  if (const auto message = read_message(cluster_, datagram)) discovery_.on_message(from_.address(), *message);
}

void DiscoveryHost::send(const Discovery::Address& to, const DiscoveryMessage& message) {
  boost::system::error_code lost;  // it will be said again
  if (to.is_v6() != socket_.local_endpoint(lost).address().is_v6()) return;
  const std::string text = write_message(cluster_, message);
  const std::string datagram = seal_ ? seal_->seal(text, wall_clock_now()) : text;
  socket_.send_to(boost::asio::buffer(datagram), {to, port_}, 0, lost);
}

void DiscoveryHost::wait() {
  timer_.expires_after(discovery_.is_member() ? kMemberTick : kTick);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || stopped_) return;
    discovery_.tick();
    if (!stopped_) handlers_.on_tick();
    if (stopped_) return;
    if (discovery_.wants_names()) look_up();
    wait();
  });
}

// A name that cannot be found right now stands for what it stood for.
void DiscoveryHost::look_up() {
  if (std::exchange(looking_up_, true)) return;
  const bool v6 = socket_.local_endpoint().address().is_v6();
  resolver_.async_resolve(v6 ? udp::v6() : udp::v4(), name_, std::to_string(port_), udp::resolver::numeric_service,
                          [this](const boost::system::error_code& error, const udp::resolver::results_type& found) {
                            if (stopped_) return;
                            looking_up_ = false;
                            if (error) return;
                            std::vector<Discovery::Address> addresses;
                            for (const auto& entry : found) addresses.push_back(entry.endpoint().address());
                            discovery_.on_names(addresses);
                          });
}

void discover(Settings& settings, DiscoveryStore& store) {
  boost::asio::io_context io;
  Log log(settings.log, kNoNode);
  std::string said;
  int ticks = 0, said_at = -kSayNews;
  DiscoveryHost::Handlers handlers{.is_connected = [](NodeId) { return true; },
                                   .on_moved = [](NodeId, const NodeAddress&) {},
                                   .on_replaced = [] {},
                                   .on_tick = {},
                                   .on_complaint = [&log](const std::string& sentence) { log.warning(sentence); }};
  DiscoveryHost* running = nullptr;
  handlers.on_tick = [&] {
    const std::string now = running->discovery().waits_for();
    const int silent = ++ticks - said_at;
    if (running->discovery().is_member() || silent >= kSayAgain || (now != said && silent >= kSayNews)) {
      log.info("this daemon " + (said = now));
      said_at = ticks;
    }
    if (!running->discovery().is_member()) return;
    running->stop();
    io.stop();
  };
  DiscoveryHost host(io, settings, store, false, std::move(handlers));
  running = &host;
  host.start();
  io.run();
  settings.node.rank = host.discovery().rank();
  settings.cluster.nodes.clear();
  for (const auto& member : host.discovery().list().members) settings.cluster.nodes.push_back(member.node);
  if (const auto mistake = complete_settings(settings))
    throw SettingsError("node.discover: " + mistake->key + " " + mistake->sentence);
}

}  // namespace fibocast
