#include "tests/runtime/daemon/cluster_fixture.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <cstring>
#include <stdexcept>

#include "runtime/wire/client_codec.h"

namespace fibocast {
namespace {

constexpr int kPatience_ms = 30'000;  // a test that waits longer has failed

void read_all(int socket, char* to, std::size_t bytes) {
  while (bytes > 0) {
    pollfd ready{socket, POLLIN, 0};
    if (poll(&ready, 1, kPatience_ms) != 1) throw std::runtime_error("the daemon does not answer");
    const ssize_t n = read(socket, to, bytes);
    if (n <= 0) throw std::runtime_error("the daemon closed the connection");
    to += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

// An address of this process alone, so that tests that run side by side do not meet.
std::string own_address() {
  const auto pid = static_cast<unsigned>(getpid());
  return "127." + std::to_string(1 + pid / 62'500 % 250) + "." + std::to_string(pid / 250 % 250) + "." +
         std::to_string(1 + pid % 250);
}

// For UDP and for TCP.
bool is_free(const std::string& address, std::uint16_t port) {
  boost::asio::io_context io;
  const auto ip = boost::asio::ip::make_address(address);
  boost::asio::ip::tcp::acceptor tcp(io);
  boost::asio::ip::udp::socket udp(io);
  boost::system::error_code tcp_error, udp_error;
  tcp.open(boost::asio::ip::tcp::v4()), udp.open(boost::asio::ip::udp::v4());
  tcp.bind({ip, port}, tcp_error), udp.bind({ip, port}, udp_error);
  return !tcp_error && !udp_error;
}

}  // namespace

// Never one twice, and below the ports that the system gives to sockets of any address: such a one could take a port
// that was free a moment ago.
std::string free_address() {
  static std::uint16_t next = 10'000;
  const std::string address = own_address();
  while (!is_free(address, next)) ++next;
  return address + ":" + std::to_string(next++);
}

RawClient::RawClient(const std::string& path, bool greet) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("cannot connect to " + path);
  if (!greet) return;
  client::Request hello;
  hello.mutable_hello()->set_major(kClientMajor);
  call(hello);
}

RawClient::~RawClient() { close(); }

void RawClient::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

std::uint64_t RawClient::send(client::Request request) {
  request.set_id(next_id_++);
  std::string frame;
  append_frame(request, frame);
  send_bytes(frame);
  return request.id();
}

void RawClient::send_bytes(const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::send(socket_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (n <= 0) throw std::runtime_error("the daemon takes no more");
    at += static_cast<std::size_t>(n);
  }
}

client::Response RawClient::receive() {
  char length[kFrameLengthBytes];
  read_all(socket_, length, sizeof length);
  std::string body(read_frame_length(std::as_bytes(std::span(length))), '\0');
  read_all(socket_, body.data(), body.size());
  client::Response response;
  if (!response.ParseFromString(body)) throw std::runtime_error("a response that cannot be read");
  return response;
}

client::Response RawClient::receive(std::uint64_t id) {
  while (!kept_.contains(id)) {
    client::Response response = receive();
    kept_[response.id()] = response;
  }
  return kept_.extract(id).mapped();
}

bool RawClient::closed_by_daemon() {
  pollfd ready{socket_, POLLIN, 0};
  char byte;
  return poll(&ready, 1, kPatience_ms) == 1 && read(socket_, &byte, 1) <= 0;
}

client::Response RawClient::open_group(const std::string& name, std::uint32_t participants) {
  client::Request request;
  request.mutable_open_group()->set_name(name);
  request.mutable_open_group()->set_participants(participants);
  return call(request);
}

std::uint64_t RawClient::start_barrier(const std::string& group, std::int64_t deadline_ms) {
  client::Request request;
  request.mutable_operate()->set_group(group);
  request.mutable_operate()->set_kind(client::OPERATION_BARRIER);
  request.mutable_operate()->set_deadline_ns(deadline_ms * 1'000'000);
  return send(request);
}

client::NodeStatus RawClient::status() {
  client::Request request;
  request.mutable_get_status();
  return call(request).node_status();
}

ClusterTest::ClusterTest() {
  std::string name = std::filesystem::temp_directory_path() / "fibocastd-XXXXXX";
  folder_ = mkdtemp(name.data());
}

ClusterTest::~ClusterTest() {
  for (NodeId rank = 0; rank < daemons_.size(); ++rank) stop(rank);
  std::filesystem::remove_all(folder_);
}

void ClusterTest::plan_cluster(std::uint32_t nodes) {
  Settings settings;
  settings.log.level = "off";
  settings.cluster.nodes.clear();
  for (std::uint32_t i = 0; i < nodes; ++i) settings.cluster.nodes.push_back(free_address());
  for (NodeId rank = 0; rank < nodes; ++rank) {
    settings_.push_back(settings);
    settings_[rank].node.rank = rank;
    settings_[rank].node.listen = settings.cluster.nodes[rank];
    settings_[rank].node.socket = folder_ / (std::to_string(rank) + ".sock");
  }
  daemons_.resize(nodes);
  threads_.resize(nodes);
}

void ClusterTest::start(NodeId rank) {
  complete_settings(settings_[rank]);
  daemons_[rank] = std::make_unique<Daemon>(settings_[rank]);
  threads_[rank] = std::thread([daemon = daemons_[rank].get()] { daemon->run(); });
}

void ClusterTest::stop(NodeId rank) {
  if (!daemons_[rank]) return;
  daemons_[rank]->stop();
  threads_[rank].join();
  daemons_[rank].reset();
}

void ClusterTest::start_all() {
  for (NodeId rank = 0; rank < daemons_.size(); ++rank) start(rank);
}

void ClusterTest::wait_connected() {
  for (NodeId rank = 0; rank < daemons_.size(); ++rank) {
    if (!daemons_[rank]) continue;
    RawClient client(socket(rank));
    while (client.status().connected() + 1 < daemons_.size()) std::this_thread::yield();
  }
}

}  // namespace fibocast
