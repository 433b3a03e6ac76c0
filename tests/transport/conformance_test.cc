// One promise, every transport: what is sent arrives exactly once, in order per lane and byte for byte, over
// loopback, UDP, TCP and shared memory, plain and with 20 % loss, duplicates and reordering; sealed and not.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "tests/transport/endpoint.h"
#include "tests/transport/forwarding_transport.h"
#include "tests/transport/recorded_sealing.h"
#include "transport/faulty_transport.h"
#include "transport/local_transport.h"
#include "transport/loopback_transport.h"
#include "transport/tcp_transport.h"
#include "transport/udp_transport.h"

namespace fibocast::test {
namespace {

enum class Kind { kLoopback, kUdp, kTcp, kLocal };
struct Variant {
  Kind kind;
  bool faulty;
  bool sealed = false;
};

// A faulty transport that owns what it wraps.
class OwningFaulty final : public ForwardingTransport {
 public:
  OwningFaulty(boost::asio::io_context& io, std::unique_ptr<Transport> inner, std::uint32_t seed)
      : inner_(std::move(inner)), faulty_(io, *inner_, kFaults, seed) {
    forward_to(faulty_);
  }

 private:
  static constexpr FaultSettings kFaults{.loss = 0.2, .duplicates = 0.1, .reordered = 0.2, .most_delay = 500'000};
  std::unique_ptr<Transport> inner_;
  FaultyTransport faulty_;
};

// Memory, and sockets for whom it does not reach yet.
class OwningLocal final : public ForwardingTransport {
 public:
  OwningLocal(boost::asio::io_context& io, std::unique_ptr<Transport> inner, const LocalSettings& settings)
      : inner_(std::move(inner)), local_(io, *inner_, settings) {
    for (NodeId id = 0; id < 16; ++id)
      if (id != settings.self) local_.set_peer(id, "node" + std::to_string(id));
    forward_to(local_);
  }

 private:
  std::unique_ptr<Transport> inner_;
  LocalTransport local_;
};

class Conformance : public ::testing::TestWithParam<Variant> {
 protected:
  // A node of the group comes up, with new sockets; the others learn where it is.
  void start(NodeId self, NodeId nodes, std::uint64_t incarnation) {
    std::unique_ptr<Transport> transport = make(self);
    if (GetParam().kind == Kind::kLocal) {
      prepare_local_folder(folder);
      const LocalSettings settings{folder, "node" + std::to_string(self), self, incarnation, nodes - 1};
      transport = std::make_unique<OwningLocal>(io, std::move(transport), settings);
    }
    if (GetParam().faulty) {
      transport =
          std::make_unique<OwningFaulty>(io, std::move(transport), static_cast<std::uint32_t>(incarnation + self));
    }
    if (GetParam().sealed)
      transport = std::make_unique<RecordedSealing>(std::move(transport), self, nodes, incarnation);
    endpoints[self] = std::make_unique<Endpoint>(io, std::move(transport), self, nodes, incarnation);
  }
  void stop(NodeId self) {
    udp.erase(self);
    tcp.erase(self);
    endpoints.erase(self);
  }
  void start_group(NodeId nodes) {
    for (NodeId i = 0; i < nodes; ++i) start(i, nodes, 100 + i);
  }
  std::unique_ptr<Transport> make(NodeId self) {
    if (GetParam().kind == Kind::kLoopback) return std::make_unique<LoopbackTransport>(hub, self);
    if (GetParam().kind != Kind::kTcp) return introduce<UdpTransport, UdpSettings>(self, udp);
    return introduce<TcpTransport, TcpSettings>(self, tcp);
  }
  template <class T, class Settings>
  std::unique_ptr<T> introduce(NodeId self, std::map<NodeId, T*>& known) {
    Settings settings;
    settings.listen = {boost::asio::ip::make_address("127.0.0.1"), 0};
    auto transport = std::make_unique<T>(io, settings);
    for (auto& [id, other] : known) {
      other->set_peer(self, transport->local_endpoint());
      transport->set_peer(id, other->local_endpoint());
    }
    // Who is not there yet will be told later; until then the payload size of this host's own network.
    for (NodeId id = 0; id < 16; ++id) {
      if (id != self && !known.contains(id)) transport->set_peer(id, {boost::asio::ip::make_address("127.0.0.1"), 1});
    }
    known[self] = transport.get();
    return transport;
  }
  // The time limit only ends a hang.
  ::testing::AssertionResult run_until(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(50);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return ::testing::AssertionFailure() << "hangs";
      io.run_one_for(std::chrono::milliseconds(100));
    }
    return ::testing::AssertionSuccess();
  }
  bool all_done() const {
    return std::ranges::all_of(endpoints, [](const auto& e) { return e.second->done(); });
  }
  std::string errors() const {
    std::string all;
    for (const auto& [id, e] : endpoints) all += e->errors();
    return all;
  }
  Traffic& traffic(NodeId from, NodeId to) { return endpoints.at(from)->traffic(to); }

  void TearDown() override { std::filesystem::remove_all(folder); }

  const std::string folder = "/tmp/fibocast-conformance-" + std::to_string(getpid());
  boost::asio::io_context io;
  LoopbackHub hub{io};
  std::map<NodeId, UdpTransport*> udp;
  std::map<NodeId, TcpTransport*> tcp;
  std::map<NodeId, std::unique_ptr<Endpoint>> endpoints;
};

TEST_P(Conformance, EverySize) {
  start_group(2);
  for (NodeId from : {0u, 1u}) {
    Traffic& t = traffic(from, 1 - from);
    for (const std::size_t bytes : {0, 1, 1024}) t.queue_small(bytes);
    for (const std::size_t bytes : {0, 1, 1024, 64 << 10, 1 << 20}) t.queue_bulk(bytes);
    endpoints[from]->service(1 - from);
  }
  traffic(0, 1).queue_bulk(8 << 20);
  endpoints[0]->service(1);
  ASSERT_TRUE(run_until([&] { return all_done(); }));
  EXPECT_EQ(errors(), "");
  EXPECT_EQ(traffic(1, 0).smalls, 3u);
  EXPECT_EQ(traffic(1, 0).bulks, 6u);
  EXPECT_EQ(traffic(0, 1).bulks, 5u);
}

TEST_P(Conformance, ManySmallMessages) {
  start_group(2);
  for (NodeId from : {0u, 1u}) {
    for (std::size_t i = 0; i < 1000; ++i) traffic(from, 1 - from).queue_small(i % 3 == 0 ? i % 1000 : 0);
    endpoints[from]->service(1 - from);
  }
  ASSERT_TRUE(run_until([&] { return all_done(); }));
  EXPECT_EQ(errors(), "");
  EXPECT_EQ(traffic(1, 0).smalls, 1000u);
  EXPECT_EQ(traffic(0, 1).smalls, 1000u);
}

TEST_P(Conformance, GroupsOfManySizes) {
  for (const NodeId nodes : {3u, 16u}) {
    for (NodeId i = 0; i < 16; ++i) stop(i);
    start_group(nodes);
    for (NodeId from = 0; from < nodes; ++from) {
      for (NodeId to = 0; to < nodes; ++to) {
        if (to == from) continue;
        for (std::size_t i = 0; i < 10; ++i) traffic(from, to).queue_small(i * 100);
        if (to == (from + 1) % nodes) traffic(from, to).queue_bulk(64 << 10);
        endpoints[from]->service(to);
      }
    }
    ASSERT_TRUE(run_until([&] { return all_done(); })) << nodes;
    EXPECT_EQ(errors(), "");
    for (NodeId from = 0; from < nodes; ++from) {
      EXPECT_EQ(traffic((from + 1) % nodes, from).smalls, 10u);
      EXPECT_EQ(traffic((from + 1) % nodes, from).bulks, 1u);
    }
  }
}

TEST_P(Conformance, ASmallMessageIsNotHeldUpByBulk) {
  start_group(2);
  traffic(0, 1).queue_bulk(8 << 20);
  endpoints[0]->service(1);
  ASSERT_TRUE(run_until([&] { return traffic(1, 0).bulk_bytes > 0; }));
  traffic(0, 1).queue_small(100);
  endpoints[0]->service(1);
  ASSERT_TRUE(run_until([&] { return all_done(); }));
  // With losses it may be lost itself, and come after the fragments that were under way.
  EXPECT_TRUE(GetParam().faulty || traffic(1, 0).arrived == (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(errors(), "");
}

TEST_P(Conformance, APeerThatStartsLateGetsWhatWaited) {
  start(0, 2, 100);
  traffic(0, 1).queue_bulk(64 << 10);
  for (int i = 0; i < 40; ++i) traffic(0, 1).queue_small(10);
  endpoints[0]->service(1);
  ASSERT_TRUE(run_until([&] { return endpoints[0]->channel(1).counters().frames_sent >= 3; }));
  start(1, 2, 200);
  ASSERT_TRUE(run_until([&] { return all_done(); }));
  EXPECT_EQ(errors(), "");
  EXPECT_EQ(traffic(1, 0).smalls, 40u);
  EXPECT_EQ(traffic(1, 0).bulks, 1u);
}

TEST_P(Conformance, ANewIncarnationIsToldAndUsed) {
  start_group(2);
  ASSERT_TRUE(run_until([&] { return all_done(); }));
  for (std::uint32_t life = 1; life <= 3; ++life) {
    traffic(0, 1).queue_bulk(1 << 20);
    for (int i = 0; i < 40; ++i) traffic(0, 1).queue_small(10), traffic(1, 0).queue_small(10);
    endpoints[0]->service(1);
    endpoints[1]->service(0);
    ASSERT_TRUE(run_until([&] { return traffic(1, 0).smalls > 5; }));
    EXPECT_EQ(errors(), "");
    stop(1);
    start(1, 2, 200 + life);
    ASSERT_TRUE(run_until([&] { return traffic(0, 1).restarted == life; }));
  }
  ASSERT_TRUE(run_until([&] { return all_done(); }));
  const std::uint32_t before = traffic(1, 0).smalls;
  traffic(0, 1).queue_small(500);
  endpoints[0]->service(1);
  ASSERT_TRUE(run_until([&] { return traffic(1, 0).smalls == before + 1; }));
  EXPECT_EQ(errors(), "");
}

std::string name_of(const ::testing::TestParamInfo<Variant>& info) {
  const char* names[] = {"loopback", "udp", "tcp", "local"};
  return std::string(names[static_cast<int>(info.param.kind)]) + (info.param.faulty ? "_faulty" : "_plain") +
         (info.param.sealed ? "_sealed" : "");
}

INSTANTIATE_TEST_SUITE_P(All, Conformance,
                         ::testing::Values(Variant{Kind::kLoopback, false}, Variant{Kind::kLoopback, true},
                                           Variant{Kind::kUdp, false}, Variant{Kind::kUdp, true},
                                           Variant{Kind::kTcp, false}, Variant{Kind::kTcp, true},
                                           Variant{Kind::kUdp, true, true}, Variant{Kind::kTcp, true, true},
                                           Variant{Kind::kTcp, false, true}, Variant{Kind::kLocal, false},
                                           Variant{Kind::kLocal, true}),
                         name_of);

}  // namespace
}  // namespace fibocast::test
