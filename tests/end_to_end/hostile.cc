#include "tests/end_to_end/hostile.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace fibocast {

sockaddr_in address_of(const std::string& text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, text.substr(0, text.find(':')).c_str(), &address.sin_addr);
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(text.substr(text.find(':') + 1))));
  return address;
}

namespace {

Socket connected(int type, const std::string& to) {
  Socket made(socket(AF_INET, type, 0));
  const sockaddr_in address = address_of(to);
  connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return made;
}

int packet_socket() {
  const int made = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK, htons(ETH_P_IP));
  if (made < 0) return made;
  sockaddr_ll device{};
  device.sll_family = AF_PACKET;
  device.sll_protocol = htons(ETH_P_IP);
  device.sll_ifindex = static_cast<int>(if_nametoindex("lo"));
  const int room = 64 << 20;
  setsockopt(made, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
  if (bind(made, reinterpret_cast<const sockaddr*>(&device), sizeof device) == 0) return made;
  close(made);
  return -1;
}

}  // namespace

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Socket::~Socket() {
  if (descriptor_ >= 0) close(descriptor_);
}

Socket Socket::tcp(const std::string& to) { return connected(SOCK_STREAM, to); }
Socket Socket::udp(const std::string& to) { return connected(SOCK_DGRAM, to); }

void Socket::send(const Octets& bytes) const {
  [[maybe_unused]] const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool Socket::closed_by_peer() const {
  char byte;
  pollfd ready{descriptor_, POLLIN, 0};
  return poll(&ready, 1, 0) == 1 && recv(descriptor_, &byte, 1, MSG_DONTWAIT) <= 0;
}

Octets random_bytes(std::mt19937& random, std::size_t most) {
  Octets bytes(random() % (most + 1));
  for (unsigned char& b : bytes) b = static_cast<unsigned char>(random());
  return bytes;
}

Capture::Capture() : socket_(packet_socket()) {}

std::vector<Capture::Datagram> Capture::take() {
  std::vector<Datagram> all;
  Octets packet(65536);
  sockaddr_ll from{};
  for (;;) {
    socklen_t length = sizeof from;
    const ssize_t bytes =
        recvfrom(socket_.get(), packet.data(), packet.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
    if (bytes <= 0) return all;
    const std::size_t head = 4u * (packet[0] & 15u);  // of IP; then 8 bytes of UDP
    const auto size = static_cast<std::size_t>(bytes);
    // On loopback each packet is seen twice: as it leaves and as it comes.
    if (from.sll_pkttype == PACKET_OUTGOING || packet[9] != IPPROTO_UDP || size < head + 8) continue;
    const auto port = static_cast<std::uint16_t>(packet[head + 2] << 8 | packet[head + 3]);
    all.push_back({port, Octets(packet.begin() + static_cast<std::ptrdiff_t>(head + 8), packet.begin() + bytes)});
  }
}

Meanwhile::Meanwhile(std::function<void()> act)
    : thread_([this, act = std::move(act)] {
        for (; !stopped_; ++times_) act();
      }) {}

Meanwhile::~Meanwhile() {
  stopped_ = true;
  thread_.join();
}

}  // namespace fibocast
