// Planted defects in whole runs: the swarm would be worth nothing if it passed a system that is broken.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "firmware_sim/checkers/checkers.h"
#include "firmware_sim/swarm_lives.h"
#include "firmware_sim/swarm_run.h"
#include "firmware_sim/swarm_scenario.h"
#include "runtime/node/peer_message.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

using Datagram = VirtualNetwork::Datagram;

// Changes one bit of every payload, as a network without checksums might.
bool flip_a_payload_bit(NodeId, NodeId, Datagram& datagram) {
  const std::optional<Frame> frame = decode_frame(datagram);
  if (frame && frame->payload_length > 0) datagram.back() ^= std::byte{1};
  return true;
}

// It has no payload.
void replace_body(Datagram& datagram, Frame& frame, const PeerMessage& message) {
  std::array<std::byte, kMaxPeerMessage> body;
  std::array<std::byte, kMaxHeadBytes> head;
  frame.body = std::span(body).first(encode_peer_message(message, body));
  const std::size_t bytes = encode_frame_head(frame, head);
  datagram.assign(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(bytes));
}

// Turns tokens that go up a barrier's tree into tokens of the next generation: a node that counts wrongly.
bool token_one_too_high(NodeId, NodeId, Datagram& datagram) {
  std::optional<Frame> frame = decode_frame(datagram);
  if (!frame || frame->type != FrameType::kDataSmall) return true;
  std::optional<PeerMessage> message = decode_peer_message(frame->body);
  const bool token = message && message->type == PeerMessageType::kTransfer &&
                     message->operation == Operation::kBarrier && message->stage == 0;
  if (!token || message->generation % 3 != 0) return true;
  ++message->generation;
  replace_body(datagram, *frame, *message);
  return true;
}

// One node is never heard by anybody.
bool mute_node_0(NodeId from, NodeId, Datagram&) { return from != 0; }

// One node hears of a dead caller that its deadline has passed.
bool caller_lost_hidden_from_node_1(NodeId, NodeId to, Datagram& datagram) {
  std::optional<Frame> frame = decode_frame(datagram);
  if (!frame || frame->type != FrameType::kDataSmall || to != 1) return true;
  std::optional<PeerMessage> message = decode_peer_message(frame->body);
  if (!message || message->type != PeerMessageType::kVerdict || message->verdict != Verdict::kCallerLost) return true;
  message->verdict = Verdict::kDeadlineExceeded;
  replace_body(datagram, *frame, *message);
  return true;
}

Scenario calm_scenario(std::uint64_t seed) {
  Scenario scenario = make_scenario(seed);
  scenario.cluster.network = {};
  return scenario;
}

// The first fault that contains `text` in the first seeds, under this mutant.
bool noticed(const VirtualNetwork::Filter& mutant, const std::string& text, bool lives = false) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto plant = [&mutant](VirtualCluster& cluster) { cluster.network().set_filter(mutant); };
    Scenario scenario = calm_scenario(seed);
    if (lives) give_lives(scenario);
    for (const std::string& fault : check_all(run_scenario(scenario, plant).history))
      if (fault.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST(Mutant, ThatTearsPayloadsIsNoticed) {
  EXPECT_TRUE(noticed(flip_a_payload_bit, "torn payload"));
  EXPECT_TRUE(noticed(flip_a_payload_bit, "another message"));
}

TEST(Mutant, ThatCountsGenerationsWronglyIsNoticed) { EXPECT_TRUE(noticed(token_one_too_high, "released when")); }

TEST(Mutant, ThatHidesDeadCallersIsNoticed) {
  EXPECT_TRUE(noticed(caller_lost_hidden_from_node_1, "another verdict", true));
}

TEST(Mutant, ThatIsMuteIsNoticed) { EXPECT_TRUE(noticed(mute_node_0, "although all came and had time")); }

}  // namespace
}  // namespace fibocast
