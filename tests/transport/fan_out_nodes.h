// Nodes of this process whose frames leave in fan-outs, as soon as they hear them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/transport/event_loop_test.h"
#include "transport/fan_out.h"
#include "transport/udp_transport.h"

namespace fibocast {

class FanOutTest : public EventLoopTest {
 protected:
  struct Node {
    std::unique_ptr<UdpTransport> transport;
    std::vector<std::string> frames;
  };

  // Ports that this process has at the moment: nobody else uses the same group.
  void SetUp() override {
    boost::asio::ip::udp::socket any(io, boost::asio::ip::udp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
    const std::uint16_t port = any.local_endpoint().port();
    group = {boost::asio::ip::address_v4(0xefff0000 + port), static_cast<std::uint16_t>(61'000 + port % 4'000)};
  }
  UdpSettings settings(NodeId self, bool hears) const {
    UdpSettings settings{.listen = {boost::asio::ip::address_v4::loopback(), 0}};
    if (hears) settings.fan_out = FanOut::Settings{.group = group, .self = self, .ask_again = ask_again};
    return settings;
  }
  void start(NodeId self, const UdpSettings& settings) {
    Node& node = nodes[self];
    node.transport = std::make_unique<UdpTransport>(io, settings);
    for (NodeId peer = 0; peer < nodes.size(); ++peer) {
      if (peer == self || !nodes[peer].transport) continue;
      node.transport->set_peer(peer, nodes[peer].transport->local_endpoint());
      nodes[peer].transport->set_peer(self, node.transport->local_endpoint());
    }
    Transport::Handlers handlers;
    handlers.on_frame = [&node](std::span<const std::byte> frame) {
      node.frames.push_back(text(frame));
      return true;
    };
    handlers.on_parts = [&node](std::span<const std::byte> head, std::span<const std::byte> payload) {
      node.frames.push_back(text(head) + text(payload));
      return true;
    };
    node.transport->start(std::move(handlers));
  }
  // Those in `deaf` know nothing of fan-outs.
  void start_all(std::size_t count, const std::vector<NodeId>& deaf = {}) {
    nodes.resize(count);
    for (NodeId i = 0; i < count; ++i) start(i, settings(i, std::ranges::find(deaf, i) == deaf.end()));
  }
  static std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }
  static std::string text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // From node 0 to all of these, in two pieces.
  void fan_out(const std::vector<NodeId>& to, const std::string& text) {
    for (const NodeId peer : to) {
      const std::string head = text + " for ", payload = std::to_string(peer);
      EXPECT_TRUE(nodes[0].transport->gather(peer, bytes(head), bytes(payload)));
    }
    nodes[0].transport->flush();
  }
  // The same payload to all of these.
  void gather(const std::vector<NodeId>& to, const std::string& payload) {
    for (const NodeId peer : to)
      EXPECT_TRUE(nodes[0].transport->gather(peer, bytes("for " + std::to_string(peer) + " "), bytes(payload)));
  }
  std::vector<NodeId> all_others() const {
    std::vector<NodeId> others;
    for (NodeId i = 1; i < nodes.size(); ++i) others.push_back(i);
    return others;
  }
  // All have got so many frames and there is nothing more to do: the answers to questions have come too.
  ::testing::AssertionResult all_have(std::size_t frames) {
    const auto result = run_until([&] {
      return std::all_of(nodes.begin() + 1, nodes.end(), [&](const Node& n) { return n.frames.size() >= frames; });
    });
    while (io.poll() > 0) continue;
    return result;
  }
  const TransportCounters& counters(NodeId node) { return nodes[node].transport->counters(); }

  boost::asio::ip::udp::endpoint group;
  Nanoseconds ask_again = 3'600'000'000'000;
  std::vector<Node> nodes;
};

}  // namespace fibocast
