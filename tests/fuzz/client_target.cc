#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <filesystem>
#include <string>

#include "runtime/daemon/node_host.h"
#include "runtime/daemon/session_server.h"
#include "runtime/daemon/settings.h"
#include "runtime/wire/client_codec.h"
#include "tests/fuzz/input.h"
#include "transport/loopback_transport.h"

namespace fibocast::fuzz {
namespace {

using Socket = boost::asio::local::stream_protocol::socket;

NodeSettings alone() {
  NodeSettings settings;
  settings.nodes = 1;
  return settings;
}

// A daemon of one node without its program: the host, the sessions, and a client's end of a socket.
class AttackedDaemon {
 public:
  AttackedDaemon() {
    host_.start();
    server_.start();
  }
  void serve(Bytes written) {
    boost::asio::local::stream_protocol::socket client(io_), served(io_);
    boost::asio::local::connect_pair(client, served);
    server_.admit(std::move(served), Session::Peer::kOther);
    client.non_blocking(true);
    run();
    while (!written.empty()) {
      const ssize_t taken = ::send(client.native_handle(), written.data(), written.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (taken <= 0) break;  // closed for garbage, or it waits for the client to read
      written = written.subspan(static_cast<std::size_t>(taken));
      run();
      read_all(client);
    }
    client.close();
    run();
    require(server_.clients() == 0);
  }

 private:
  void run() {
    io_.restart();
    for (int k = 0; k < 1000 && io_.poll_one() > 0; ++k) {
    }
    host_.catch_up();
  }
  static void read_all(Socket& client) {
    std::array<std::byte, 4096> answers;
    while (::recv(client.native_handle(), answers.data(), answers.size(), MSG_DONTWAIT) > 0) {
    }
  }
  NodeHost::Handlers handlers() {
    return {.on_call_done = [this](const Event& event) { server_.on_call_done(event); },
            .on_event = [this](const Event& event) { server_.on_event(event); },
            .on_drained = [this] { return server_.on_drained(); }};
  }

  boost::asio::io_context io_;
  LoopbackHub hub_{io_};
  LoopbackTransport transport_{hub_, 0};
  NodeHost host_{io_, transport_, Limits::simulated(), alone(), WaitPolicy::kBlock, handlers()};
  SessionContext context_{.host = host_,
                          .cluster = "fuzz",
                          .payload_limit = Limits::simulated().payload_bytes,
                          .planner = GroupPlanner(Settings{}),
                          .set_model = [](const client::SetModel&) { return std::string(); },
                          .fill_status = [](client::NodeStatus&) {},
                          .fill_trace = [](std::uint64_t, client::Trace&) {},
                          .on_closed = {},
                          .relay = [](Socket&, NodeId, std::span<const std::byte>) { return false; },
                          .counters = {},
                          .response = {}};
  std::string path_ = std::filesystem::temp_directory_path() / ("fibocast-fuzz-" + std::to_string(getpid()));
  SessionServer server_{io_, context_, path_};
};

// One for all inputs: what an input leaves behind must harm no later client.
void serve(Bytes written) {
  static AttackedDaemon daemon;
  daemon.serve(written);
}

}  // namespace

void fuzz_client(Bytes input) { serve(input); }

void fuzz_client_request(Bytes bytes) {
  std::string frames;
  for (Input input(bytes); !input.empty();) {
    const Bytes request = input.piece();
    const auto length = static_cast<std::uint32_t>(request.size());
    frames.append(reinterpret_cast<const char*>(&length), sizeof length);
    frames.append(reinterpret_cast<const char*>(request.data()), request.size());
  }
  serve(std::as_bytes(std::span(frames)));
}

}  // namespace fibocast::fuzz
