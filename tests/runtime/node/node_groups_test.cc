// Groups whose definition brings a tree of its own: it travels in pieces, after the definition, and whatever goes wrong
// with them ends with a refusal that is counted - or with the whole tree.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "runtime/node/group_trees.h"
#include "tests/runtime/node/team.h"

namespace fibocast {
namespace {

using Edges = std::set<std::pair<NodeId, NodeId>>;
using Entries = std::vector<TreeTableEntry>;

constexpr std::uint32_t kMany = 65;  // two pieces: with the definition more than a window of 2 messages

ClusterSettings wide_cluster(std::uint32_t nodes) {
  ClusterSettings settings = cluster_of(nodes);
  settings.limits.nodes = nodes, settings.limits.transfers = 2 * nodes;
  return settings;
}

// In breadth-first order: entry i has `children(i)` children; ranks are dealt out as `rank_of` says.
template <typename Children>
Entries table_with(Rank ranks, Rank step, Children children) {
  Entries entries;
  Rank next = 1;
  for (Rank i = 0; i < ranks; ++i) {
    entries.push_back({static_cast<std::uint16_t>(i * step % ranks), static_cast<std::uint16_t>(next), 0});
    next = std::min(ranks, next + children(i));
  }
  EXPECT_TRUE(complete_table(entries));
  return entries;
}

// No formula: fan-outs 3, 1, 2, 3, 1, 2, .. and numbers that jump. Precondition: `step` and `ranks` have no divisor.
Entries odd_tree(Rank ranks, Rank step = 7) {
  return table_with(ranks, step, [](Rank i) { return i % 3 == 0 ? 3 : i % 3; });
}
Entries chain(Rank ranks) {
  return table_with(ranks, 3, [](Rank) { return 1u; });
}

GroupDefinition definition_of(const Entries& entries, std::string_view name = "odd", NodeId first = 0) {
  GroupDefinition d;
  d.name = name;
  d.members.add_run({first, static_cast<std::uint32_t>(entries.size())});
  d.plan.reduction.kind = d.plan.distribution.kind = TreeKind::kGiven;
  d.plan.given = TreeTable(entries);
  return d;
}

// Looks at every small message on its way, and may change it.
using Look = std::function<void(NodeId from, NodeId to, PeerMessage&)>;
void on_messages(VirtualCluster& cluster, Look look) {
  cluster.network().set_filter([look = std::move(look)](NodeId from, NodeId to, VirtualNetwork::Datagram& datagram) {
    std::optional<Frame> frame = decode_frame(datagram);
    if (!frame || frame->type != FrameType::kDataSmall) return true;
    std::optional<PeerMessage> message = decode_peer_message(frame->body);
    if (!message || message->type == PeerMessageType::kTransfer) {
      if (message) look(from, to, *message);
      return true;
    }
    std::array<std::byte, kMaxPeerMessage> body;
    look(from, to, *message);
    frame->body = std::span(body).first(encode_peer_message(*message, body));
    std::array<std::byte, kMaxHeadBytes> head;
    const std::size_t bytes = encode_frame_head(*frame, head);
    VirtualNetwork::Datagram changed(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(bytes));
    changed.insert(changed.end(), frame->payload.begin(), frame->payload.end());
    datagram = changed;
    return true;
  });
}

Verdict create(Team& team, NodeId at, const GroupDefinition& definition) {
  const Asked asked = team.cluster.create(at, definition);
  EXPECT_EQ(asked.admission, Admission::kTaken);
  EXPECT_TRUE(team.wait({asked.cookie}));
  return team.verdict(asked.cookie);
}

std::uint64_t bad_trees(const Team& team, NodeId id) { return team.cluster.node(id).node().counters().bad_trees; }
bool is_member(const Team& team, NodeId id, std::string_view name) {
  const Node& node = team.cluster.node(id).node();
  for (std::uint32_t i = 0; i < node.group_count(); ++i)
    if (node.group_info(i).id == group_id(name)) return node.group_info(i).rank != kNoRank;
  return false;
}

// All members make the call; who sent transfers to whom.
Edges edges_of(Team& team, Call call, std::string_view name) {
  Edges edges;
  on_messages(team.cluster, [&](NodeId from, NodeId to, PeerMessage& m) {
    if (m.type == PeerMessageType::kTransfer) edges.emplace(from, to);
  });
  std::vector<std::uint64_t> cookies;
  for (const NodeId id : team.up) {
    if (!is_member(team, id, name)) continue;
    const Membership m = team.cluster.open(id, name);
    call.group = m.group, call.generation = m.generation, call.deadline = team.in(10 * kSecond);
    const Asked asked = team.cluster.call(id, call);
    EXPECT_EQ(asked.admission, Admission::kTaken);
    cookies.push_back(asked.cookie);
  }
  EXPECT_TRUE(team.wait(cookies));
  team.expect_all(cookies, Verdict::kOk);
  team.cluster.network().set_filter(nullptr);
  return edges;
}

Edges multicast_edges(Team& team, std::string_view name, Rank root = 0) {
  Call call;
  call.operation = Operation::kMulticast, call.root = root;
  return edges_of(team, call, name);
}

// What the table says, turned to begin at `root`.
Edges edges_in(const Entries& entries, Rank root = 0) {
  Edges edges;
  const TreeTable table(entries);
  const auto p = table.ranks();
  for (Rank v = 1; v < p; ++v) edges.emplace((table.parent(v) + root) % p, (v + root) % p);
  return edges;
}

TEST(GivenTrees, ReachEveryMemberAndAreWhatMessagesFollow) {
  Team team(wide_cluster(19));
  const Entries tree = odd_tree(19);
  ASSERT_EQ(create(team, 4, definition_of(tree)), Verdict::kOk);
  EXPECT_EQ(multicast_edges(team, "odd"), edges_in(tree));
  EXPECT_EQ(multicast_edges(team, "odd", 5), edges_in(tree, 5));  // the same shape, turned
  Edges both = edges_in(tree);
  for (const auto& [parent, child] : edges_in(tree)) both.emplace(child, parent);
  EXPECT_EQ(edges_of(team, {}, "odd"), both);  // a barrier, up and down
}

TEST(GivenTrees, MayServeTheWayDownOnly) {
  Team team(wide_cluster(19));
  const Entries tree = odd_tree(19);
  GroupDefinition d = definition_of(tree);
  d.plan.reduction = {.kind = TreeKind::kSequential};
  ASSERT_EQ(create(team, 0, d), Verdict::kOk);
  Edges both = edges_in(tree);
  for (NodeId id = 1; id < 19; ++id) both.emplace(id, 0);
  EXPECT_EQ(edges_of(team, {}, "odd"), both);
}

// A window of two messages: the definition stops and goes on at every member.
TEST(GivenTrees, GoOnWhereAFullChannelStoppedThem) {
  Team team(wide_cluster(kMany));
  const Entries tree = odd_tree(kMany);
  ASSERT_GT(1 + 2u, Limits::simulated().small_window);
  std::map<NodeId, std::vector<Rank>> heard;
  on_messages(team.cluster, [&](NodeId, NodeId to, PeerMessage& m) {
    if (m.type == PeerMessageType::kGroupTree) heard[to].push_back(m.first);
  });
  ASSERT_EQ(create(team, 7, definition_of(tree)), Verdict::kOk);
  team.cluster.network().set_filter(nullptr);
  EXPECT_EQ(heard.size(), kMany - 1);
  for (const auto& [node, pieces] : heard)
    EXPECT_EQ(pieces, (std::vector<Rank>{0, group_trees::kPieceEntries})) << "node " << node;
  EXPECT_EQ(multicast_edges(team, "odd"), edges_in(tree));
}

TEST(GivenTrees, ComeThroughLossAndDuplicates) {
  ClusterSettings settings = wide_cluster(kMany);
  settings.network.latency_max = kMillisecond, settings.network.jitter = kMillisecond;
  Team team(settings);
  const Fault losses = loss(0.2), copies = duplicates(0.2);
  team.cluster.begin(losses), team.cluster.begin(copies);
  const Entries tree = odd_tree(kMany);
  ASSERT_EQ(create(team, 3, definition_of(tree)), Verdict::kOk);
  EXPECT_EQ(multicast_edges(team, "odd"), edges_in(tree));
  for (const NodeId id : team.up) EXPECT_EQ(bad_trees(team, id), 0u);
}

// A member is asked again before its definition has got through: it goes on all the same.
TEST(GivenTrees, ComeThroughASlowLink) {
  Team team(wide_cluster(kMany));
  team.cluster.network().set_latency(3, 9, kAskAgain);
  team.cluster.network().set_latency(9, 3, kAskAgain);
  const Entries tree = odd_tree(kMany);
  ASSERT_EQ(create(team, 3, definition_of(tree)), Verdict::kOk);
  EXPECT_EQ(multicast_edges(team, "odd"), edges_in(tree));
}

// ---- pieces that are wrong

// The bytes of a piece that the tests change, kept as long as the message is looked at.
struct Piece {
  explicit Piece(PeerMessage& m) : message(m), bytes(m.piece.begin(), m.piece.end()) {}
  ~Piece() { message.piece = storage = bytes; }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;
  PeerMessage& message;
  std::vector<std::byte> bytes;
  static inline std::vector<std::byte> storage;
};

struct Wrong {
  const char* name;
  std::function<void(PeerMessage&)> change;
};

class WrongPieces : public testing::TestWithParam<Wrong> {};

TEST_P(WrongPieces, AreRefusedAndCountedAndForgotten) {
  Team team(wide_cluster(kMany));
  const Entries tree = odd_tree(kMany);
  on_messages(team.cluster, [&](NodeId, NodeId to, PeerMessage& m) {
    if (to == 2 && m.type == PeerMessageType::kGroupTree) GetParam().change(m);
  });
  const Asked asked = team.cluster.create(0, definition_of(tree));
  ASSERT_TRUE(team.wait({asked.cookie}));
  EXPECT_EQ(team.verdict(asked.cookie), Verdict::kRefused);
  EXPECT_EQ(team.done(asked.cookie).ranks, only(2));
  EXPECT_EQ(bad_trees(team, 2), 1u);
  team.cluster.network().set_filter(nullptr);
  team.cluster.run_until(team.in(kSecond));
  for (const NodeId id : team.up) EXPECT_FALSE(is_member(team, id, "odd")) << "node " << id;
  EXPECT_EQ(create(team, 0, definition_of(tree)), Verdict::kOk);  // nothing is left of it
  EXPECT_EQ(multicast_edges(team, "odd"), edges_in(tree));
}

INSTANTIATE_TEST_SUITE_P(
    Pieces, WrongPieces,
    testing::Values(Wrong{"TheFirstIsMissing", [](PeerMessage& m) { m.first += 60; }},
                    Wrong{"AgainInsteadOfTheNext", [](PeerMessage& m) { m.first = 0; }},
                    Wrong{"BeyondTheEnd", [](PeerMessage& m) { m.first = m.first == 60 ? 0xffff'fff0 : m.first; }},
                    Wrong{"Empty", [](PeerMessage& m) { m.piece = {}; }},
                    Wrong{"OneEntryTooFew",
                          [](PeerMessage& m) { m.piece = m.piece.first(m.piece.size() - kTreeEntryBytes); }},
                    Wrong{"HalfAnEntry", [](PeerMessage& m) { m.piece = m.piece.first(m.piece.size() - 1); }},
                    Wrong{"ARankThatDoesNotExist", [](PeerMessage& m) { Piece(m).bytes[1] = std::byte{0xff}; }},
                    Wrong{"ARankTwice", [](PeerMessage& m) { Piece(m).bytes[0] ^= std::byte{1}; }},
                    Wrong{"AnotherRoot",
                          [](PeerMessage& m) {
                            Piece p(m);
                            if (m.first == 0) std::swap(p.bytes[0], p.bytes[4]);
                          }},
                    Wrong{"ACircle", [](PeerMessage& m) { Piece(m).bytes[2] = std::byte{0}; }}),
    [](const auto& info) { return info.param.name; });

TEST(GivenTrees, APieceWithoutADefinitionIsCountedAndChangesNothing) {
  Team team(cluster_of(3));
  std::array<std::byte, kTreeEntryBytes> entry{};
  on_messages(team.cluster, [&](NodeId from, NodeId, PeerMessage& m) {
    if (from != 1 || m.type != PeerMessageType::kMessageCredit) return;
    m = {};
    m.type = PeerMessageType::kGroupTree, m.group = group_id("odd"), m.piece = entry;
  });
  team.cluster.send(0, 1, 5, {});
  const std::uint64_t received = team.cluster.receive(1, 5).cookie;  // node 1 gives its credit back
  ASSERT_TRUE(team.wait({received}));
  team.cluster.run_until(team.in(kSecond));
  EXPECT_EQ(team.cluster.node(0).node().counters().stale, 1u);
  EXPECT_FALSE(is_member(team, 0, "odd"));
}

// ---- definitions that end in the middle, and several of them

TEST(GivenTrees, HalfADefinitionIsForgottenAfterTheGroupPatience) {
  ClusterSettings settings = wide_cluster(kMany);
  settings.node.group_patience = kSecond;
  Team team(settings);  // two groups at a time: "all" is one
  const Entries tree = odd_tree(kMany);
  bool stopped = false;
  on_messages(team.cluster, [&](NodeId from, NodeId, PeerMessage& m) {
    if (m.type == PeerMessageType::kGroupTree && from == 5 && !stopped) {
      stopped = true;
      team.cluster.at(team.cluster.now() + 1, [&team] { team.cluster.node(5).stop(); });
    }
  });
  const Fault slow{.kind = Fault::Kind::kReorder, .nodes = {}, .time = kMillisecond};
  team.cluster.begin(slow);
  team.cluster.create(5, definition_of(tree));
  team.cluster.run_until(team.in(kSecond / 2));
  ASSERT_TRUE(stopped);
  team.cluster.network().set_filter(nullptr);
  team.up.erase(team.up.begin() + 5);
  EXPECT_EQ(team.cluster.create(1, definition_of(tree)).admission, Admission::kExists);
  const Entries four = chain(4);
  const GroupDefinition small = definition_of(four, "small");
  EXPECT_EQ(team.cluster.create(1, small).admission, Admission::kWouldBlock);  // half a group takes the place
  team.cluster.run_until(team.in(kSecond));
  ASSERT_EQ(create(team, 1, small), Verdict::kOk);
  EXPECT_EQ(multicast_edges(team, "small"), edges_in(four));
}

TEST(GivenTrees, OfOneNameButOfTwoShapesLeaveTheFirstGroupInPlace) {
  Team team(wide_cluster(20));
  const Entries first = odd_tree(16), second = chain(16);
  ASSERT_EQ(create(team, 0, definition_of(first)), Verdict::kOk);
  const Asked other = team.cluster.create(18, definition_of(second));  // no member: it does not know the group
  ASSERT_TRUE(team.wait({other.cookie}));
  EXPECT_EQ(team.verdict(other.cookie), Verdict::kRefused);
  EXPECT_EQ(team.done(other.cookie).ranks.size(), 16u);
  team.cluster.run_until(team.in(kSecond));
  for (NodeId id = 0; id < 16; ++id) EXPECT_TRUE(is_member(team, id, "odd")) << "node " << id;
  EXPECT_EQ(create(team, 19, definition_of(odd_tree(16))), Verdict::kOk);  // the same once more is no contradiction
  EXPECT_EQ(multicast_edges(team, "odd"), edges_in(first));
  EXPECT_EQ(team.cluster.create(3, definition_of(first)).admission, Admission::kExists);
}

TEST(GivenTrees, DefinedByTwoNodesAtATimeAreNeverMixed) {
  Team team(wide_cluster(kMany));
  const Fault slow{.kind = Fault::Kind::kReorder, .nodes = {}, .time = kMillisecond};
  team.cluster.begin(slow);
  const Entries a = odd_tree(61), b = odd_tree(61, 9);
  const Asked one = team.cluster.create(62, definition_of(a)), two = team.cluster.create(63, definition_of(b));
  ASSERT_TRUE(team.wait({one.cookie, two.cookie}));
  team.cluster.run_until(team.in(kSecond));
  const bool first = team.verdict(one.cookie) == Verdict::kOk, second = team.verdict(two.cookie) == Verdict::kOk;
  EXPECT_FALSE(first && second);
  for (const NodeId id : team.up) EXPECT_EQ(bad_trees(team, id), 0u);
  if (first || second) {
    EXPECT_EQ(multicast_edges(team, "odd"), edges_in(first ? a : b));
  } else {
    EXPECT_EQ(create(team, 62, definition_of(a)), Verdict::kOk);
  }
}

// The memory of the first tree serves the second one, and so do the runs of the engine with their schedules.
TEST(GivenTrees, ANewTreeInTheOldPlace) {
  Team team(wide_cluster(16));
  for (const Rank step : {7u, 9u, 11u}) {
    const Entries tree = odd_tree(16, step);
    ASSERT_EQ(create(team, 0, definition_of(tree)), Verdict::kOk);
    EXPECT_EQ(multicast_edges(team, "odd"), edges_in(tree));
    EXPECT_EQ(team.cluster.node(0).remove_group("odd"), Admission::kTaken);
    team.cluster.run_until(team.in(kSecond));
    for (const NodeId id : team.up) ASSERT_FALSE(is_member(team, id, "odd"));
  }
}

TEST(GivenTrees, EveryOperationWorksAlongThem) {
  Team team(wide_cluster(13));
  ASSERT_EQ(create(team, 0, definition_of(odd_tree(13))), Verdict::kOk);
  for (const Operation operation : {Operation::kReduce, Operation::kAllreduce, Operation::kScatter, Operation::kGather,
                                    Operation::kAllgather, Operation::kAlltoall}) {
    Call call;
    call.operation = operation;
    if (combines(operation)) call.type = ElementType::kInt64, call.op = CombineOperator::kSum;
    EXPECT_FALSE(edges_of(team, call, "odd").empty());
  }
}

// The tree is that of the ranks with an application; routers (the last ranks) are outside of it.
TEST(GivenTrees, LeaveRoutersAlone) {
  Team team(wide_cluster(15));
  const Entries tree = odd_tree(8);
  GroupDefinition d = definition_of(tree);
  d.members = {};
  d.members.add_run({0, 15});
  d.routers = 7;
  ASSERT_EQ(create(team, 14, d), Verdict::kOk);
  team.up.resize(8);
  EXPECT_EQ(multicast_edges(team, "odd"), edges_in(tree));
}

TEST(GivenTrees, ThatAreNoneOfTheMembersAreNotTaken) {
  Team team(wide_cluster(8));
  const Entries tree = odd_tree(8);
  GroupDefinition few = definition_of(tree);
  few.members = {};
  few.members.add_run({0, 7});
  EXPECT_EQ(team.cluster.create(0, few).admission, Admission::kNoPlan);
  Entries broken = tree;
  broken[3].rank = broken[4].rank;
  EXPECT_EQ(team.cluster.create(0, definition_of(broken)).admission, Admission::kNoPlan);
  GroupDefinition none = definition_of(tree);
  none.plan.given = {};
  EXPECT_EQ(team.cluster.create(0, none).admission, Admission::kNoPlan);
  const Entries star = table_with(8, 3, [](Rank i) { return i == 0 ? 7u : 0u; });
  ClusterSettings narrow = cluster_of(8);
  narrow.limits.transfers = 8;
  EXPECT_EQ(Team(narrow).cluster.create(0, definition_of(star)).admission, Admission::kNoPlan);
}

}  // namespace
}  // namespace fibocast
