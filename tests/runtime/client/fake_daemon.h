// A daemon that says what a test tells it to: one client, one thread, the real local protocol.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/client/client.h"
#include "runtime/wire/client.pb.h"

namespace fibocast {

class FakeDaemon {
 public:
  // Called for each request but Hello, which is answered as daemon 1 of 3; may call send() any number of times.
  using OnRequest = std::function<void(FakeDaemon& daemon, const client::Request& request)>;
  explicit FakeDaemon(OnRequest on_request);
  ~FakeDaemon();

  const std::string& path() const { return path_; }
  void send(const client::Response& response);
  void send_raw(const std::string& bytes);
  // Closes the connection, as a daemon that dies does.
  void hang_up();
  void stop_reading();  // the client's next request fails
  void set_refuses(bool refuses) { refuses_ = refuses; }
  void set_default_deadline(std::int64_t ns) { default_deadline_ = ns; }

 private:
  void serve();
  bool read_request(client::Request& request);
  void greet(std::uint64_t id);

  OnRequest on_request_;
  std::string folder_, path_;
  std::atomic<bool> refuses_ = false;
  std::atomic<std::int64_t> default_deadline_ = 0;
  int listener_ = -1;
  std::atomic<int> connection_ = -1;
  std::thread thread_;
};

// A response to `request` with this code.
client::Response answer_to(const client::Request& request, client::Code code = client::CODE_OK);

// Answers everything at once: groups have rank 1 of 3, operations number themselves, messages come from rank 2.
void answer_all(FakeDaemon& daemon, const client::Request& request);

std::shared_ptr<Client> connected_to(const FakeDaemon& daemon);
std::string text(const std::vector<std::byte>& bytes);

}  // namespace fibocast
