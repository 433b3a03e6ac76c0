// What strangers do to a daemon's port: scans, random bytes, silent and slow connections, and traffic that was
// recorded.
#pragma once

#include <netinet/in.h>

#include <atomic>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace fibocast {

using Octets = std::vector<unsigned char>;

// "127.0.0.1:7117" as the system wants it.
sockaddr_in address_of(const std::string& text);

// A socket, closed at the end. Negative: there is none.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&&) = delete;
  ~Socket();
  static Socket tcp(const std::string& to);  // connected
  static Socket udp(const std::string& to);
  int get() const { return descriptor_; }
  void send(const Octets& bytes) const;  // lost or not
  bool closed_by_peer() const;

 private:
  int descriptor_;
};

Octets random_bytes(std::mt19937& random, std::size_t most);

// What is sent on the loopback device, from its making on. Needs root: is_possible().
class Capture {
 public:
  explicit Capture(bool tcp);
  bool is_possible() const { return socket_.get() >= 0; }
  struct Sent {
    std::uint16_t port;  // to this one
    Octets bytes;        // a UDP datagram, or all of a TCP connection's one way
  };
  // What has come since, without waiting.
  std::vector<Sent> take();

 private:
  void take_datagram(const unsigned char* udp, std::size_t size, std::vector<Sent>& all) const;
  void take_segment(const unsigned char* tcp, std::size_t size);
  struct Stream {
    std::uint32_t next = 0;  // sequence number
    Sent sent;
  };
  const bool tcp_;
  Socket socket_;
  std::map<std::uint32_t, Stream> streams_;  // by the ports, source and destination
};

// Does something again and again in a thread of its own, until it goes out of scope.
class Meanwhile {
 public:
  explicit Meanwhile(std::function<void()> act);
  ~Meanwhile();
  int times() const { return times_; }

 private:
  std::atomic<bool> stopped_ = false;
  std::atomic<int> times_ = 0;
  std::thread thread_;
};

}  // namespace fibocast
