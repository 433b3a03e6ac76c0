// The limit: a bare UDP socket with the waiting policy of a node (of two: 200 tries with sched_yield, then blocked).
// Variant "roundtrip": rank 0 sends, rank 1 answers (n = 2); a multicast is its bytes one way, in datagrams as long as
// fragments of ours, received in their place. Variant "work": one process sends itself 2(n-1) datagrams and receives
// them, what a barrier of n costs when it costs nothing else. WORDS: the ports of the ranks.
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <span>
#include <system_error>

#include "tests/bench/peers/way.h"

namespace fibocast::peers {
namespace {

constexpr int kTries = 200;
constexpr std::size_t kFrame = 104;  // of the head of a frame
constexpr std::size_t kFragment = 55 * 1024;
constexpr std::size_t kAhead = 2;  // fragments that fit the receiver's buffer: of more each waits for an answer

sockaddr_in address_of(const std::string& port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  a.sin_port = htons(static_cast<std::uint16_t>(std::stoul(port)));
  return a;
}

class Socket {
 public:
  Socket(const std::string& mine, const std::string& other)
      : fd_(socket(AF_INET, SOCK_DGRAM, 0)), other_(address_of(other)) {
    const sockaddr_in a = address_of(mine);
    const int bytes = 1 << 20;
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (bind(fd_, reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0)
      throw std::system_error(errno, std::generic_category(), "bind");
  }
  ~Socket() { close(fd_); }
  void send() { send(frame_); }
  void send(std::span<const std::byte> bytes) {
    sendto(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&other_), sizeof other_);
  }
  void receive() { receive(frame_); }
  void receive(std::span<std::byte> bytes) {
    for (int i = 0; i < kTries; ++i) {
      if (recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT) >= 0) return;
      sched_yield();
    }
    pollfd waiting{fd_, POLLIN, 0};
    poll(&waiting, 1, -1);
    recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
  }

 private:
  int fd_;
  sockaddr_in other_;
  std::byte frame_[kFrame] = {};
};

class RoundTrip final : public Way {
 public:
  explicit RoundTrip(const Place& place)
      : rank_(place.rank), socket_(place.words.at(place.rank), place.words.at(1 - place.rank)) {
    // The first datagram may come before its receiver: a file says that it listens.
    if (rank_ == 1) std::ofstream(place.directory / "listens");
    while (!std::filesystem::exists(place.directory / "listens")) sched_yield();
  }
  void barrier() override {
    if (rank_ == 0) socket_.send();
    socket_.receive();
    if (rank_ == 1) socket_.send();
  }
  double allreduce(double) override { return 0; }
  void multicast(std::span<std::byte> bytes) override {
    const std::size_t count = (bytes.size() + kFragment - 1) / kFragment;
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t begin = k * bytes.size() / count, end = (k + 1) * bytes.size() / count;
      const auto fragment = bytes.subspan(begin, end - begin);
      if (rank_ == 0) {
        if (k >= kAhead) socket_.receive();
        socket_.send(fragment);
      } else {
        socket_.receive(fragment);
        if (k + kAhead < count) socket_.send();
      }
    }
  }
  bool has_allreduce() const override { return false; }

 private:
  std::uint32_t rank_;
  Socket socket_;
};

class Work final : public Way {
 public:
  explicit Work(const Place& place) : messages_(2 * (place.n - 1)), socket_(place.words.at(0), place.words.at(0)) {}
  void barrier() override {
    for (std::uint32_t k = 0; k < messages_; ++k) socket_.send();
    for (std::uint32_t k = 0; k < messages_; ++k) socket_.receive();
  }
  double allreduce(double) override { return 0; }
  void multicast(std::span<std::byte>) override {}
  bool has_allreduce() const override { return false; }
  bool has_multicast() const override { return false; }

 private:
  std::uint32_t messages_;
  Socket socket_;
};

std::unique_ptr<Way> make(const Place& place) {
  if (place.variant == "work") return std::make_unique<Work>(place);
  return std::make_unique<RoundTrip>(place);
}

}  // namespace
}  // namespace fibocast::peers

int main(int argc, char** argv) { return fibocast::peers::run(argc, argv, fibocast::peers::make); }
