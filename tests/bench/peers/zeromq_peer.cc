// ZeroMQ, rank 0 in the middle. Variant "router": ROUTER at rank 0, DEALERs elsewhere; "pubsub": the others PUSH to
// rank 0's PULL, and SUBscribe to what it PUBlishes. WORDS: port, port.
#include <zmq.h>

#include <cstring>
#include <memory>
#include <stdexcept>

#include "tests/bench/peers/way.h"

namespace fibocast::peers {
namespace {

void check(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string(what) + ": " + zmq_strerror(zmq_errno()));
}

class Socket {
 public:
  Socket(void* context, int type) : socket_(zmq_socket(context, type)) {
    check(socket_ != nullptr, "zmq_socket");
    const int unlimited = 0;
    for (const int option : {ZMQ_SNDHWM, ZMQ_RCVHWM, ZMQ_LINGER})
      zmq_setsockopt(socket_, option, &unlimited, sizeof unlimited);
    if (type == ZMQ_SUB) zmq_setsockopt(socket_, ZMQ_SUBSCRIBE, "", 0);
  }
  ~Socket() { zmq_close(socket_); }
  void name(std::uint32_t rank) { zmq_setsockopt(socket_, ZMQ_ROUTING_ID, &rank, sizeof rank); }
  void bind(const std::string& port) { check(zmq_bind(socket_, ("tcp://127.0.0.1:" + port).c_str()) == 0, "zmq_bind"); }
  void connect(const std::string& port) {
    check(zmq_connect(socket_, ("tcp://127.0.0.1:" + port).c_str()) == 0, "zmq_connect");
  }
  void send(std::span<const std::byte> bytes, int flags = 0) {
    check(zmq_send(socket_, bytes.data(), bytes.size(), flags) >= 0, "zmq_send");
  }
  void receive(std::span<std::byte> bytes) {
    check(zmq_recv(socket_, bytes.data(), bytes.size(), 0) == static_cast<int>(bytes.size()), "zmq_recv");
  }
  bool receive_now(std::span<std::byte> bytes) {
    return zmq_recv(socket_, bytes.data(), bytes.size(), ZMQ_DONTWAIT) >= 0;
  }

 private:
  void* socket_;
};

template <class T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

struct Context {
  void* context = zmq_ctx_new();
  ~Context() { zmq_ctx_term(context); }
};

class Router final : public Way {
 public:
  explicit Router(const Place& place)
      : rank_(place.rank), n_(place.n), socket_(context_.context, rank_ == 0 ? ZMQ_ROUTER : ZMQ_DEALER) {
    if (rank_ == 0) {
      socket_.bind(place.words.at(0));
    } else {
      socket_.name(rank_ + 1);
      socket_.connect(place.words.at(0));
    }
  }
  double allreduce(double value) override {
    if (rank_ != 0) {
      socket_.send(bytes_of(value));
      socket_.receive(bytes_of(value));
      return value;
    }
    for (std::uint32_t k = 1; k < n_; ++k) {
      std::uint32_t from = 0;
      double other = 0;
      socket_.receive(bytes_of(from)), socket_.receive(bytes_of(other));
      value += other;
    }
    to_all(bytes_of(value));
    return value;
  }
  void multicast(std::span<std::byte> bytes) override {
    if (rank_ == 0) return to_all(bytes);
    socket_.receive(bytes);
  }

 private:
  void to_all(std::span<const std::byte> bytes) {
    for (std::uint32_t k = 1; k < n_; ++k) {
      std::uint32_t to = k + 1;
      socket_.send(bytes_of(to), ZMQ_SNDMORE), socket_.send(bytes);
    }
  }
  Context context_;
  std::uint32_t rank_, n_;
  Socket socket_;
};

class PubSub final : public Way {
 public:
  explicit PubSub(const Place& place)
      : rank_(place.rank),
        n_(place.n),
        up_(context_.context, rank_ == 0 ? ZMQ_PULL : ZMQ_PUSH),
        down_(context_.context, rank_ == 0 ? ZMQ_PUB : ZMQ_SUB) {
    if (rank_ == 0) {
      up_.bind(place.words.at(0)), down_.bind(place.words.at(1));
      wait_for_subscribers();
    } else {
      up_.connect(place.words.at(0)), down_.connect(place.words.at(1));
      char hello = 0;
      while (hello != 'h') down_.receive(bytes_of(hello));
      up_.send(bytes_of(hello));
      while (hello != 'g') down_.receive(bytes_of(hello));
    }
  }
  double allreduce(double value) override {
    if (rank_ != 0) {
      up_.send(bytes_of(value));
      down_.receive(bytes_of(value));
      return value;
    }
    for (std::uint32_t k = 1; k < n_; ++k) {
      double other = 0;
      up_.receive(bytes_of(other));
      value += other;
    }
    down_.send(bytes_of(value));
    return value;
  }
  void multicast(std::span<std::byte> bytes) override { rank_ == 0 ? down_.send(bytes) : down_.receive(bytes); }

 private:
  // What is published before a subscriber came is not for it: say hello until all have answered.
  void wait_for_subscribers() {
    for (std::uint32_t heard = 1; heard < n_;) {
      char hello = 'h';
      down_.send(bytes_of(hello));
      while (up_.receive_now(bytes_of(hello))) ++heard;
    }
    char go = 'g';
    down_.send(bytes_of(go));
  }
  Context context_;
  std::uint32_t rank_, n_;
  Socket up_, down_;
};

std::unique_ptr<Way> make(const Place& place) {
  if (place.variant == "router") return std::make_unique<Router>(place);
  return std::make_unique<PubSub>(place);
}

}  // namespace
}  // namespace fibocast::peers

int main(int argc, char** argv) { return fibocast::peers::run(argc, argv, fibocast::peers::make); }
