#include <vector>

#include "firmware_sim/virtual_cluster.h"
#include "runtime/node/peer_message.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/peer_frames.h"

namespace fibocast::fuzz {
namespace {

constexpr NodeId kVictim = 0, kPeer = 1, kSilent = 2;

ClusterSettings settings() {
  ClusterSettings s;
  s.nodes = 3;
  s.limits = Limits::tiny();  // soon full, and soon made
  s.node.suspicion = 100'000'000;
  return s;
}

// Node 0 of three, in a host of virtual time; node 1 is the input, node 2 never comes.
class AttackedNode {
 public:
  AttackedNode() : cluster_(settings()), peer_(kPeer, kVictim, settings().node.cluster_digest) {
    cluster_.node(kVictim).start();
    cluster_.network().set_receiver(kPeer, [this](Bytes frame) { peer_.hear(frame); });
    give(peer_.hello());
    give(peer_.acknowledgement());
    group_ = cluster_.open(kVictim, "all").group;
  }
  void step(Input& input) {
    switch (input.below(9)) {
      case 0:
      case 1:
      case 2: return say(input);
      case 3: return give(peer_.small(input.piece(), input.piece()));
      case 4: return fragment(input);
      case 5: return give(peer_.hello());
      case 6: return pass_time(static_cast<Nanoseconds>(input.number(1)) * 750'000);
      case 7: return call(input);
      case 8: return deliver(input.piece());
    }
  }
  // Whatever was said: it goes on, wakes only when there is something to do, and holds no more than it may.
  void finish() {
    pass_time(250'000'000);  // more than twice the suspicion time, and any deadline
    require(!cluster_.node(kVictim).stuck());
  }

 private:
  void deliver(Bytes frame) {
    cluster_.network().deliver(kVictim, frame);
    pass_time(1000);
  }
  void give(const std::vector<std::byte>& frame) { deliver(frame); }
  void pass_time(Nanoseconds duration) { cluster_.run_until(cluster_.now() + duration); }
  // Nearly always of ranks that there may be.
  static void add_run(RankSet& ranks, Input& input) {
    const Rank first = input.below(5);
    ranks.add_run({first, input.below(8) == 0 ? kNoRank - first : 1 + input.below(3)});
  }
  // A message whose fields are right more often than not.
  void say(Input& input) {
    PeerMessage m;
    m.type = static_cast<PeerMessageType>(1 + input.below(33));
    m.group = input.below(8) == 0 ? input.number(2) : group_;
    m.epoch = 1 + input.below(3);
    m.generation = input.below(12);
    m.operation = static_cast<Operation>(input.number(1) % 12);
    m.choice.algorithm = static_cast<Algorithm>(input.number(1) % 24);
    m.choice.parameter = static_cast<decltype(m.choice.parameter)>(input.number(1));
    m.element = static_cast<ElementType>(input.number(1) % 12);
    m.op = static_cast<CombineOperator>(input.number(1) % 8);
    m.root = input.below(4), m.source = input.below(8) == 0 ? input.below(4) : kPeer;
    m.window_base = input.below(12), m.completed = input.below(12);
    m.stage = input.below(6), m.repetition = input.below(4);
    m.straggler = {input.below(4), static_cast<Nanoseconds>(input.number(2))};
    m.total_bytes = input.number(2), m.segment_bytes = static_cast<std::uint32_t>(input.number(2));
    m.stream = input.below(6);
    m.verdict = static_cast<Verdict>(input.number(1) % 10);
    m.arrived = input.below(2) == 1;
    for (std::uint8_t k = input.below(3); k > 0; --k) add_run(m.ranks, input);
    m.tag = input.below(3), m.count = input.below(5);
    m.participants = input.below(4), m.routers = input.below(3), m.quorum = input.below(4);
    m.policy = static_cast<GroupPolicy>(input.number(1) % 4);
    m.next_epoch = input.below(5), m.first = input.below(4);
    m.news.subject = input.below(4), m.news.belief = static_cast<Belief>(input.number(1) % 5);
    m.news.incarnation = input.below(3), m.news.life = input.below(3);
    std::array<std::byte, kMaxPeerMessage> body;
    const std::size_t bytes = encode_peer_message(m, body);
    give(peer_.small(Bytes(body).first(bytes), input.piece()));
  }
  void fragment(Input& input) {
    const FragmentBody body{input.below(6), input.below(6), input.number(2)};
    give(peer_.fragment(body, input.piece()));
  }
  void call(Input& input) {
    const Nanoseconds deadline = cluster_.now() + 50'000'000;
    switch (input.below(5)) {
      case 0: cluster_.barrier(kVictim, group_, {}, deadline); break;
      case 1: cluster_.receive_multicast(kVictim, group_, kPeer, {}, deadline); break;
      case 2: cluster_.send_multicast(kVictim, group_, kVictim, {}, deadline, input.piece()); break;
      case 3: cluster_.send(kVictim, input.below(2) == 0 ? kPeer : kSilent, input.below(3), input.piece()); break;
      case 4: cluster_.receive(kVictim, input.below(3)); break;
    }
    pass_time(1000);
  }

  VirtualCluster cluster_;
  PeerFrames peer_;
  GroupId group_ = 0;
};

}  // namespace

void fuzz_node(Bytes bytes) {
  AttackedNode node;
  for (Input input(bytes); !input.empty();) node.step(input);
  node.finish();
}

}  // namespace fibocast::fuzz
