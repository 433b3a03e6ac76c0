#include "tests/runtime/client/fake_daemon.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <vector>

#include "runtime/wire/client_codec.h"

namespace fibocast {
namespace {

bool read_all(int descriptor, void* to, std::size_t count) {
  for (auto* at = static_cast<char*>(to); count > 0;) {
    const ssize_t n = read(descriptor, at, count);
    if (n <= 0) return false;
    at += n;
    count -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

client::Response answer_to(const client::Request& request, client::Code code) {
  client::Response response;
  response.set_id(request.id());
  response.mutable_status()->set_code(code);
  return response;
}

void answer_all(FakeDaemon& daemon, const client::Request& request) {
  client::Response response = answer_to(request);
  if (request.has_open_group()) {
    response.mutable_group()->set_name(request.open_group().name());
    response.mutable_group()->set_rank(1);
    response.mutable_group()->set_size(3);
  } else if (request.has_operate()) {
    response.mutable_outcome()->set_generation(static_cast<std::uint32_t>(request.id()));
    response.mutable_outcome()->set_payload(request.operate().payload());
    response.mutable_outcome()->set_arrived_at_ns(11);
    response.mutable_outcome()->set_activated_at_ns(12);
    response.mutable_outcome()->set_first_send_at_ns(13);
    response.mutable_outcome()->set_lateness_ns(14);
    response.mutable_outcome()->set_straggler(2);
    response.mutable_outcome()->set_straggler_late_ns(15);
  } else if (request.has_receive()) {
    response.mutable_message()->set_rank(2);
    response.mutable_message()->set_payload("tag " + std::to_string(request.receive().tag()));
  }
  daemon.send(response);
}

std::shared_ptr<Client> connected_to(const FakeDaemon& daemon) {
  auto client = Client::connect(daemon.path());
  EXPECT_TRUE(client.ok()) << client.status().sentence;
  return client.ok() ? *client : nullptr;
}

std::string text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

FakeDaemon::FakeDaemon(OnRequest on_request) : on_request_(std::move(on_request)) {
  std::string name = (std::filesystem::temp_directory_path() / "fibocast-fake-XXXXXX").string();
  folder_ = mkdtemp(name.data());
  path_ = folder_ + "/socket";
  listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
  bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
  listen(listener_, 1);
  thread_ = std::thread([this] { serve(); });
}

FakeDaemon::~FakeDaemon() {
  shutdown(listener_, SHUT_RDWR);
  hang_up();
  thread_.join();
  close(listener_);
  if (connection_ >= 0) close(connection_);
  std::filesystem::remove_all(folder_);
}

void FakeDaemon::serve() {
  connection_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  for (client::Request request; connection_ >= 0 && read_request(request);) {
    if (request.has_hello())
      greet(request.id());
    else
      on_request_(*this, request);
  }
}

bool FakeDaemon::read_request(client::Request& request) {
  std::byte head[kFrameLengthBytes];
  if (!read_all(connection_, head, sizeof head)) return false;
  std::vector<char> body(read_frame_length(head));
  return read_all(connection_, body.data(), body.size()) &&
         request.ParseFromArray(body.data(), static_cast<int>(body.size()));
}

void FakeDaemon::greet(std::uint64_t id) {
  client::Response response;
  response.set_id(id);
  response.mutable_status()->set_code(refuses_ ? client::CODE_REFUSED : client::CODE_OK);
  if (refuses_) response.mutable_status()->set_sentence("this daemon speaks another version");
  response.mutable_welcome()->set_rank(1);
  response.mutable_welcome()->set_size(3);
  response.mutable_welcome()->set_default_deadline_ns(default_deadline_);
  send(response);
}

void FakeDaemon::send(const client::Response& response) {
  std::string frame;
  append_frame(response, frame);
  send_raw(frame);
}

void FakeDaemon::send_raw(const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::send(connection_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (n <= 0) return;
    at += static_cast<std::size_t>(n);
  }
}

void FakeDaemon::stop_reading() { shutdown(connection_, SHUT_RD); }

void FakeDaemon::hang_up() {
  if (connection_ >= 0) shutdown(connection_, SHUT_RDWR);
}

}  // namespace fibocast
