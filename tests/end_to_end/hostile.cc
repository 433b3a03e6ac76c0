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

Capture::Capture(bool tcp) : tcp_(tcp), socket_(packet_socket()) {}

std::vector<Capture::Sent> Capture::take() {
  std::vector<Sent> all;
  Octets packet(1 << 17);  // a segment that the device cuts is longer than 64 KiB with its heads
  sockaddr_ll from{};
  for (;;) {
    socklen_t length = sizeof from;
    const ssize_t bytes =
        recvfrom(socket_.get(), packet.data(), packet.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
    if (bytes <= 0) break;
    const std::size_t head = 4u * (packet[0] & 15u);  // of IP
    const auto size = static_cast<std::size_t>(bytes);
    // On loopback each packet is seen twice: as it leaves and as it comes.
    if (from.sll_pkttype == PACKET_OUTGOING || packet[9] != (tcp_ ? IPPROTO_TCP : IPPROTO_UDP)) continue;
    tcp_ ? take_segment(packet.data() + head, size - head) : take_datagram(packet.data() + head, size - head, all);
  }
  for (auto& [ports, stream] : streams_) all.push_back(std::move(stream.sent));
  streams_.clear();
  return all;
}

void Capture::take_datagram(const unsigned char* udp, std::size_t size, std::vector<Sent>& all) const {
  if (size >= 8) all.push_back({static_cast<std::uint16_t>(udp[2] << 8 | udp[3]), Octets(udp + 8, udp + size)});
}

void Capture::take_segment(const unsigned char* tcp, std::size_t size) {
  if (size < 20) return;
  const auto number = [&](std::size_t at) {
    return std::uint32_t{tcp[at]} << 24 | tcp[at + 1] << 16 | tcp[at + 2] << 8 | tcp[at + 3];
  };
  const std::uint32_t sequence = number(4);
  const std::size_t head = 4u * (tcp[12] >> 4);
  Stream& stream = streams_[number(0)];
  stream.sent.port = static_cast<std::uint16_t>(tcp[2] << 8 | tcp[3]);
  const bool begins = (tcp[13] & 2) != 0;  // SYN
  if (begins) stream.next = sequence + 1, stream.sent.bytes.clear();
  if (begins || size <= head || sequence != stream.next) return;  // sent again
  stream.next += static_cast<std::uint32_t>(size - head);
  stream.sent.bytes.insert(stream.sent.bytes.end(), tcp + head, tcp + size);
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
