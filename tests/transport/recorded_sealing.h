// A transport that seals what it sends through another one, which it owns, and looks at every datagram in between: no
// session may have a counter twice.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <tuple>

#include "tests/transport/forwarding_transport.h"
#include "transport/little_endian.h"
#include "transport/sealing_transport.h"

namespace fibocast::test {

class RecordedSealing final : public ForwardingTransport {
 public:
  RecordedSealing(std::unique_ptr<Transport> inner, NodeId self, std::uint32_t nodes, std::uint64_t incarnation)
      : recorder_(std::move(inner)), sealing_(recorder_, settings(self, nodes, incarnation), keys(), {}) {
    forward_to(sealing_);
  }

 private:
  class Recorder final : public ForwardingTransport {
   public:
    explicit Recorder(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) { forward_to(*inner_); }
    bool send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) override {
      if (seal::kind_of(head) == seal::Kind::kFrame) {
        const auto session = little_endian::get<std::uint32_t>(head.data() + 4);
        EXPECT_TRUE(used_.emplace(to, session, little_endian::get<std::uint64_t>(head.data() + 8)).second);
      }
      return ForwardingTransport::send(to, head, payload);
    }

   private:
    std::unique_ptr<Transport> inner_;
    std::set<std::tuple<NodeId, std::uint32_t, std::uint64_t>> used_;
  };
  static SealSettings settings(NodeId self, std::uint32_t nodes, std::uint64_t incarnation) {
    SealSettings settings;
    settings.self = self, settings.nodes = nodes, settings.incarnation = incarnation, settings.cluster = "test";
    settings.first_retry = 20'000'000;  // many are lost
    return settings;
  }
  static KeyRing keys() {
    constexpr std::array<std::byte, kKeyBytes> kKey{};
    return KeyRing(ClusterKey(kKey));
  }

  Recorder recorder_;
  SealingTransport sealing_;
};

}  // namespace fibocast::test
