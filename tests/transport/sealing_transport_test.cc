// A payload that several peers get at once is sealed once, and opened by each of them; by nobody else, and by none if
// anything about it was changed.
#include "transport/sealing_transport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/transport/forwarding_transport.h"

namespace fibocast::test {
namespace {

using Bytes = std::vector<std::byte>;
using Span = std::span<const std::byte>;

constexpr std::size_t kPayloadBytes = 10'000;

Bytes copy_of(Span bytes) { return {bytes.begin(), bytes.end()}; }

// What its peers get, the test hands on. Keeps what is gathered until flush().
class Wire final : public Transport {
 public:
  struct Part {
    NodeId to = 0;
    Bytes head;
    Span payload;
  };
  void start(Handlers handlers) override { handlers_ = std::move(handlers); }
  bool send(NodeId to, Span head, Span payload) override {
    Bytes all = copy_of(head);
    all.insert(all.end(), payload.begin(), payload.end());
    alone[to].push_back(all);
    return true;
  }
  bool gather(NodeId to, Span head, Span payload) override {
    if (!shares || payload.size() < kLeastSharedPayload) return send(to, head, payload);
    gathered_.push_back({to, copy_of(head), payload});
    return true;
  }
  // As a network would: what was gathered is read now, and not before.
  void flush() override {
    ++flushes;
    for (const Part& part : gathered_) {
      payloads_at.push_back(part.payload.data());
      together[part.to].emplace_back(part.head, copy_of(part.payload));
    }
    gathered_.clear();
  }
  bool shares_payloads(NodeId) const override { return shares; }
  std::size_t max_frame(NodeId) const override { return 40'000; }
  std::size_t receive_buffer_bytes(NodeId) const override { return 1 << 20; }
  void stop() override {}
  const Handlers& handlers() const { return handlers_; }

  bool shares = true;
  std::map<NodeId, std::vector<Bytes>> alone;
  std::map<NodeId, std::vector<std::pair<Bytes, Bytes>>> together;
  std::vector<const std::byte*> payloads_at;
  int flushes = 0;

 private:
  Handlers handlers_;
  std::vector<Part> gathered_;
};

class SharedSealing : public ::testing::Test {
 protected:
  struct Node {
    Wire wire;
    std::unique_ptr<SealingTransport> sealing;
    std::vector<Bytes> heads, payloads;
    std::byte* place = nullptr;  // where payloads are to be put
  };

  void start(SealMode mode = SealMode::kSealed, NodeId without_aes = 99) {
    for (NodeId self = 0; self < 4; ++self) {
      SealSettings settings;
      settings.self = self, settings.nodes = 4, settings.incarnation = 10 + self, settings.cluster = "test";
      settings.mode = mode, settings.may_use_aes = self != without_aes;
      constexpr std::array<std::byte, kKeyBytes> kKey{};
      Node& node = nodes[self];
      node.sealing = std::make_unique<SealingTransport>(node.wire, settings, KeyRing(ClusterKey(kKey)), nullptr);
      node.sealing->start({.on_frame = [&node](Span frame) { return node.heads.push_back(copy_of(frame)), true; },
                           .place_of = [&node](Span, std::size_t) { return node.place; },
                           .on_parts =
                               [&node](Span head, Span payload) {
                                 EXPECT_TRUE(node.place == nullptr || payload.data() == node.place);
                                 node.heads.push_back(copy_of(head)), node.payloads.push_back(copy_of(payload));
                                 return true;
                               },
                           .on_writable = nullptr,
                           .on_reset = nullptr,
                           .on_refused = nullptr});
    }
    for (const NodeId peer : {1u, 2u, 3u}) nodes[0].sealing->send(peer, head_for(peer, 0), {});
    for (int round = 0; round < 3; ++round)
      for (NodeId from = 0; from < 4; ++from)
        for (auto& [to, datagrams] : std::exchange(nodes[from].wire.alone, {}))
          for (const Bytes& datagram : datagrams) nodes[to].wire.handlers().on_frame(datagram);
    for (const NodeId peer : {1u, 2u, 3u}) ASSERT_EQ(std::exchange(nodes[peer].heads, {}).size(), 1u) << peer;
  }
  static Bytes head_for(NodeId to, std::size_t payload) {
    Frame frame;
    frame.type = FrameType::kDataBulk, frame.to = to, frame.payload_length = static_cast<std::uint32_t>(payload);
    Bytes bytes(kMaxHeadBytes);
    bytes.resize(encode_frame_head(frame, bytes));
    return bytes;
  }
  static Bytes payload_of(char letter) { return Bytes(kPayloadBytes, static_cast<std::byte>(letter)); }
  void gather(NodeId to, const Bytes& payload) {
    EXPECT_TRUE(nodes[0].sealing->gather(to, head_for(to, payload.size()), payload));
  }
  // The latest that came for this node, with the payload of another one perhaps.
  void give(NodeId to, const Bytes& head, const Bytes& payload) { nodes[to].wire.handlers().on_parts(head, payload); }
  std::pair<Bytes, Bytes>& latest(NodeId to) { return nodes[0].wire.together[to].back(); }
  std::uint64_t forged(NodeId node) { return nodes[node].sealing->sealer().counters().forged; }

  Node nodes[4];
};

TEST_F(SharedSealing, EachOpensTheHeadOfItsOwnAndThePayloadOfAll) {
  start();
  const Bytes payload = payload_of('p');
  for (const NodeId to : {1u, 2u, 3u}) gather(to, payload);
  nodes[0].sealing->flush();
  const auto& at = nodes[0].wire.payloads_at;
  ASSERT_EQ(at.size(), 3u);
  EXPECT_TRUE(at[0] == at[1] && at[1] == at[2]) << "sealed once";
  EXPECT_EQ(nodes[0].wire.flushes, 1) << "nothing leaves before it is asked to";
  Bytes place(kPayloadBytes);
  nodes[2].place = place.data();
  for (const NodeId to : {1u, 2u, 3u}) {
    const auto& [head, sealed] = latest(to);
    EXPECT_EQ(std::search(sealed.begin(), sealed.end(), payload.begin(), payload.begin() + 16), sealed.end());
    give(to, head, sealed);
    ASSERT_EQ(nodes[to].heads, std::vector<Bytes>{head_for(to, kPayloadBytes)});
    EXPECT_TRUE(nodes[to].payloads[0] == payload);
  }
  EXPECT_TRUE(place == payload);
}

TEST_F(SharedSealing, EachPayloadHasItsOwnKey) {
  start();
  const Bytes a = payload_of('a'), b = payload_of('b');
  for (const Bytes* payload : {&a, &b, &a}) gather(1, *payload);
  nodes[0].sealing->flush();
  const auto all = nodes[0].wire.together[1];
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[0].second != all[2].second);
  for (const auto& [head, sealed] : all) give(1, head, sealed);
  ASSERT_EQ(nodes[1].payloads.size(), 3u);
  EXPECT_TRUE(nodes[1].payloads[0] == a && nodes[1].payloads[1] == b && nodes[1].payloads[2] == a);
  nodes[1].payloads.clear();
  gather(1, a), gather(2, a), nodes[0].sealing->flush();
  const auto first = latest(1);
  gather(1, b), gather(2, b), nodes[0].sealing->flush();
  give(1, latest(1).first, first.second);
  EXPECT_TRUE(nodes[1].payloads.empty()) << "another one's";
  EXPECT_EQ(forged(1), 1u);
}

// The memory is the application's: after flush() there may be something else in it.
TEST_F(SharedSealing, WhatIsInTheSameMemoryLaterIsSealedAnew) {
  start();
  Bytes memory = payload_of('a');
  gather(1, memory);
  nodes[0].sealing->flush();
  std::ranges::fill(memory, std::byte{'b'});
  gather(1, memory);
  nodes[0].sealing->flush();
  give(1, latest(1).first, latest(1).second);
  ASSERT_EQ(nodes[1].payloads.size(), 1u);
  EXPECT_TRUE(nodes[1].payloads[0] == memory);
}

TEST_F(SharedSealing, NothingOfItMayBeChanged) {
  start();
  const Bytes payload = payload_of('p');
  for (const std::size_t at : {std::size_t{0}, kPayloadBytes / 2, kPayloadBytes + SharedPayload::kOverhead - 1}) {
    gather(1, payload);
    nodes[0].sealing->flush();
    Bytes changed = latest(1).second;
    changed[at] ^= std::byte{1};
    give(1, latest(1).first, changed);
  }
  EXPECT_EQ(forged(1), 3u);
  gather(1, payload);
  gather(2, payload);
  nodes[0].sealing->flush();
  const auto [head, sealed] = latest(1);
  for (std::size_t at = 4; at < head.size(); at += 7) {
    Bytes changed = head;
    changed[at] ^= std::byte{1};
    give(1, changed, sealed);
  }
  give(1, head, {});
  give(1, head, Bytes(5));
  EXPECT_TRUE(nodes[1].payloads.empty());
  give(2, latest(2).first, sealed);
  EXPECT_EQ(nodes[2].payloads.size(), 1u) << "which nobody has changed";
  give(2, latest(2).first, sealed);
  EXPECT_EQ(nodes[2].payloads.size(), 1u) << "once";
}

// A head cannot be passed off as a frame, nor a frame as a head whose key is the end of its payload.
TEST_F(SharedSealing, HeadsAndFramesAreDifferentThings) {
  start();
  gather(1, payload_of('p'));
  nodes[0].sealing->flush();
  nodes[1].wire.handlers().on_frame(latest(1).first);
  EXPECT_EQ(nodes[1].sealing->sealer().counters().malformed, 1u);
  nodes[0].sealing->send(1, head_for(1, 64), Bytes(64));
  give(1, nodes[0].wire.alone[1].back(), latest(1).second);
  EXPECT_EQ(nodes[1].sealing->sealer().counters().malformed, 2u);
  EXPECT_TRUE(nodes[1].heads.empty());
}

TEST_F(SharedSealing, WhoCannotTakePartGetsItsOwn) {
  start();
  nodes[0].wire.shares = false;
  gather(1, payload_of('p'));
  EXPECT_EQ(nodes[0].wire.alone[1].size(), 1u);
  nodes[0].wire.shares = true;
  EXPECT_TRUE(nodes[0].sealing->gather(1, head_for(1, 100), Bytes(100))) << "a small one";
  EXPECT_EQ(nodes[0].wire.alone[1].size(), 2u);
  for (const Bytes& datagram : nodes[0].wire.alone[1]) nodes[1].wire.handlers().on_frame(datagram);
  EXPECT_EQ(nodes[1].heads.size(), 2u);
}

// The key would be readable, and whoever reads it could make another payload.
TEST_F(SharedSealing, NotWithIntegrityOnly) {
  start(SealMode::kIntegrity);
  gather(1, payload_of('p'));
  EXPECT_EQ(nodes[0].wire.alone[1].size(), 1u);
  EXPECT_TRUE(nodes[0].wire.together.empty());
}

TEST_F(SharedSealing, WhoHasNoAesGetsItSealedOtherwise) {
  if (!AesGcm::is_available()) GTEST_SKIP() << "this processor has no AES";
  start(SealMode::kSealed, 2);
  const Bytes payload = payload_of('p');
  for (const NodeId to : {1u, 2u, 3u}) gather(to, payload);
  nodes[0].sealing->flush();
  EXPECT_TRUE(latest(1).second != latest(2).second);
  for (const NodeId to : {1u, 2u, 3u}) {
    give(to, latest(to).first, latest(to).second);
    ASSERT_EQ(nodes[to].payloads.size(), 1u) << to;
    EXPECT_TRUE(nodes[to].payloads[0] == payload);
  }
}

}  // namespace
}  // namespace fibocast::test
