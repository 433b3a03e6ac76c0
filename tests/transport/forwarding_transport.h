// A transport that does all through another one: what the tests' own transports differ in is all they have to say.
#pragma once

#include "transport/transport.h"

namespace fibocast::test {

class ForwardingTransport : public Transport {
 public:
  void start(Handlers handlers) override { to_->start(std::move(handlers)); }
  bool send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) override {
    return to_->send(to, head, payload);
  }
  std::size_t max_frame(NodeId to) const override { return to_->max_frame(to); }
  std::size_t receive_buffer_bytes(NodeId from) const override { return to_->receive_buffer_bytes(from); }
  void stop() override { to_->stop(); }

 protected:
  // Before anything else is called; it must live as long.
  void forward_to(Transport& other) { to_ = &other; }

 private:
  Transport* to_ = nullptr;
};

}  // namespace fibocast::test
