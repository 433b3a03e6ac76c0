// The C interface does what the C++ client does: the same calls at the same daemons give the same bytes, for every
// operation and 1 to 8 nodes. And what is wrong ends with a code and a sentence.
#include <gtest/gtest.h>

#include <thread>

#include "runtime/client/fibocast.h"
#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

constexpr std::int64_t kPatienceNs = std::chrono::nanoseconds(kPatience).count();
constexpr fibocast_options kPatient = {sizeof(fibocast_options), kPatienceNs, nullptr, "c"};

using Bytes = std::vector<std::byte>;
using Results = std::vector<Bytes>;  // of one rank, one for each operation

Bytes copy_of(fibocast_bytes got) {
  const auto* begin = static_cast<const std::byte*>(got.data);
  return {begin, begin + got.size};
}

Bytes of_text(const std::string& text) { return copy_of({text.data(), text.size()}); }

// What rank `rank` brings: values that do not add up exactly, so that the order of a sum shows.
std::vector<double> vector_of(std::uint32_t rank, std::size_t count) {
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(0.1 * static_cast<double>(rank + 1) + 1e-3 / static_cast<double>(i + rank + 1));
  return out;
}

template <class T>
std::vector<T> numbers_of(std::uint32_t rank, std::size_t count) {
  std::vector<T> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(static_cast<T>(3 * rank + i % 5 + 1));
  return out;
}

// Of an operator that is associative but does not commute: the first byte of the left, the last of the right.
void join_ends(std::span<std::byte> left, std::span<const std::byte> right) { left.back() = right.back(); }
void join_ends_in_c(void* left, const void* right, std::size_t size, void* calls) {
  join_ends({static_cast<std::byte*>(left), size}, {static_cast<const std::byte*>(right), size});
  ++*static_cast<int*>(calls);
}

class CMember {
 public:
  CMember(const std::string& socket, const char* group) {
    EXPECT_EQ(fibocast_connect(socket.c_str(), &participant_), FIBOCAST_OK) << fibocast_last_sentence();
    EXPECT_EQ(fibocast_open(participant_, group, &group_), FIBOCAST_OK) << fibocast_last_sentence();
  }
  ~CMember() {
    fibocast_leave(group_);
    fibocast_close(participant_);
  }
  CMember(const CMember&) = delete;
  CMember& operator=(const CMember&) = delete;
  fibocast_participant* participant() { return participant_; }
  fibocast_group* group() { return group_; }
  std::uint32_t rank() { return fibocast_rank(group_); }
  std::uint32_t size() { return fibocast_size(group_); }

 private:
  fibocast_participant* participant_ = nullptr;
  fibocast_group* group_ = nullptr;
};

class Collector {
 public:
  void add(fibocast_code code, fibocast_bytes got) {
    EXPECT_EQ(code, FIBOCAST_OK) << fibocast_last_sentence();
    results.push_back(copy_of(got));
  }
  void add(Outcome outcome) {
    EXPECT_TRUE(outcome.ok()) << outcome.status.sentence;
    results.push_back(std::move(outcome.payload));
  }
  Results results;
};

template <class T>
void reduce_in_c(CMember& me, std::uint32_t root, fibocast_type type, int op, Collector& out) {
  const auto mine = numbers_of<T>(me.rank(), 6);
  fibocast_bytes got;
  const auto combine = static_cast<fibocast_operator>(op);
  out.add(fibocast_reduce(me.group(), root, mine.data(), mine.size(), type, combine, &kPatient, &got), got);
  out.add(fibocast_allreduce(me.group(), mine.data(), mine.size(), type, combine, &kPatient, &got), got);
}

template <class T>
void reduce_in_cpp(Group& group, Rank root, int op, Collector& out) {
  const auto mine = numbers_of<T>(group.rank(), 6);
  const auto combine = static_cast<CombineOperator>(op);
  out.add(group.reduce<T>(root, mine, combine, kPatience));
  out.add(group.allreduce<T>(mine, combine, kPatience));
}

constexpr std::size_t kElements = 23;

Results all_in_c(CMember& me, std::uint32_t root) {
  Collector out;
  fibocast_bytes got = {nullptr, 0};
  fibocast_group* g = me.group();
  const bool is_root = me.rank() == root;
  out.add(fibocast_barrier(g, &kPatient, nullptr), got);
  const auto vector = vector_of(me.rank(), kElements);
  const auto blocks = vector_of(me.rank(), 3 * me.size());
  const std::size_t bytes = sizeof(double) * vector.size(), all = sizeof(double) * blocks.size();
  out.add(fibocast_multicast(g, root, is_root ? vector.data() : nullptr, is_root ? bytes : 0, &kPatient, &got), got);
  for (int op = 1; op <= 7; ++op) {
    reduce_in_c<std::int32_t>(me, root, FIBOCAST_INT32, op, out);
    reduce_in_c<std::int64_t>(me, root, FIBOCAST_INT64, op, out);
    reduce_in_c<std::uint64_t>(me, root, FIBOCAST_UINT64, op, out);
    if (op <= 4) reduce_in_c<float>(me, root, FIBOCAST_FLOAT, op, out);
    if (op <= 4) reduce_in_c<double>(me, root, FIBOCAST_DOUBLE, op, out);
  }
  out.add(fibocast_allreduce(g, vector.data(), kElements, FIBOCAST_DOUBLE, FIBOCAST_SUM, &kPatient, &got), got);
  int calls = 0;
  out.add(fibocast_reduce_with(g, root, vector.data(), bytes, join_ends_in_c, &calls, &kPatient, &got), got);
  EXPECT_EQ(calls, is_root ? static_cast<int>(me.size()) - 1 : 0);
  out.add(fibocast_allreduce_with(g, vector.data(), bytes, join_ends_in_c, &calls, &kPatient, &got), got);
  out.add(fibocast_scatter(g, root, is_root ? blocks.data() : nullptr, is_root ? all : 0, &kPatient, &got), got);
  out.add(fibocast_gather(g, root, vector.data(), bytes, &kPatient, &got), got);
  out.add(fibocast_allgather(g, vector.data(), bytes, &kPatient, &got), got);
  out.add(fibocast_alltoall(g, blocks.data(), all, &kPatient, &got), got);
  out.add(fibocast_divide(g, root, is_root ? vector.data() : nullptr, is_root ? kElements : 0, FIBOCAST_DOUBLE,
                          &kPatient, &got),
          got);
  const Bytes share = copy_of(got);
  std::uint64_t first = 0, count = 0;
  EXPECT_EQ(fibocast_share(g, root, kElements, &kPatient, &first, &count), FIBOCAST_OK);
  EXPECT_EQ(count * sizeof(double), share.size());
  out.add(FIBOCAST_OK, {&first, sizeof first});
  out.add(fibocast_conquer(g, root, kElements, share.data(), count, FIBOCAST_DOUBLE, FIBOCAST_NONE, &kPatient, &got),
          got);
  return out.results;
}

Results all_in_cpp(Group& g, Rank root) {
  Collector out;
  const bool is_root = g.rank() == root;
  out.add(g.barrier(kPatience));
  const auto vector = vector_of(g.rank(), kElements), blocks = vector_of(g.rank(), std::size_t{3} * g.size());
  const auto bytes = std::as_bytes(std::span(vector)), all = std::as_bytes(std::span(blocks));
  const std::span<const std::byte> none;
  out.add(g.multicast(root, is_root ? bytes : none, kPatience));
  for (int op = 1; op <= 7; ++op) {
    reduce_in_cpp<std::int32_t>(g, root, op, out);
    reduce_in_cpp<std::int64_t>(g, root, op, out);
    reduce_in_cpp<std::uint64_t>(g, root, op, out);
    if (op <= 4) reduce_in_cpp<float>(g, root, op, out);
    if (op <= 4) reduce_in_cpp<double>(g, root, op, out);
  }
  out.add(g.allreduce<double>(vector, CombineOperator::kSum, kPatience));
  out.add(g.reduce_with(root, bytes, join_ends, kPatience));
  out.add(g.allreduce_with(bytes, join_ends, kPatience));
  out.add(g.scatter(root, is_root ? all : none, kPatience));
  out.add(g.gather(root, bytes, kPatience));
  out.add(g.allgather(bytes, kPatience));
  out.add(g.alltoall(all, kPatience));
  out.add(g.divide(root, is_root ? bytes : none, ElementType::kDouble, kPatience));
  const Bytes share = out.results.back();
  const std::uint64_t first = g.share(root, kElements)->first;
  out.results.push_back(copy_of({&first, sizeof first}));
  out.add(g.conquer(root, kElements, share, {ElementType::kDouble, CombineOperator::kNone}, kPatience));
  return out.results;
}

// Runs part(rank) for all ranks at a time.
template <class Part>
void at_all(std::uint32_t ranks, Part part) {
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) threads.emplace_back(part, rank);
  for (auto& thread : threads) thread.join();
}

std::string socket_of(const TestCluster& cluster, std::uint32_t rank) {
  return cluster.dir() + "/node-" + std::to_string(rank) + ".sock";
}

TEST(CApi, AgreesWithTheCppClientForOneToEightNodes) {
  for (std::uint32_t nodes = 1; nodes <= 8; ++nodes) {
    SCOPED_TRACE(nodes);
    TestCluster cluster;
    cluster.up({"-n", std::to_string(nodes)});
    std::vector<Results> in_c(nodes), in_cpp(nodes);
    at_all(nodes, [&](std::uint32_t rank) {
      CMember me(socket_of(cluster, rank), "all");
      in_c[rank] = all_in_c(me, nodes - 1);
    });
    at_all(nodes, [&](std::uint32_t rank) {
      auto client = Client::connect(socket_of(cluster, rank));
      ASSERT_TRUE(client.ok()) << client.status().sentence;
      Group group = *(*client)->open("all");
      in_cpp[rank] = all_in_cpp(group, nodes - 1);
    });
    for (std::uint32_t rank = 0; rank < nodes; ++rank) {
      ASSERT_EQ(in_c[rank].size(), in_cpp[rank].size());
      for (std::size_t i = 0; i < in_c[rank].size(); ++i)
        EXPECT_EQ(in_c[rank][i], in_cpp[rank][i]) << "rank " << rank << ", operation " << i;
    }
  }
}

TEST(CApi, MessagesGroupsAndWhoCameLast) {
  TestCluster cluster;
  cluster.up({"-n", "3"});
  CMember sender(socket_of(cluster, 0), "all"), receiver(socket_of(cluster, 1), "all");
  ASSERT_EQ(fibocast_send(sender.participant(), 1, 5, "hello", 5, 0), FIBOCAST_OK);
  fibocast_bytes got;
  std::uint32_t from = 9;
  ASSERT_EQ(fibocast_receive(receiver.participant(), 5, kPatienceNs, &from, &got), FIBOCAST_OK);
  EXPECT_EQ(copy_of(got), of_text("hello"));
  EXPECT_EQ(from, 0u);

  const std::uint32_t nodes[] = {1, 2};  // ranks 0 and 1 of the group
  ASSERT_EQ(fibocast_create_group(receiver.participant(), "pair", nodes, 2, "some"), FIBOCAST_INVALID);
  ASSERT_EQ(fibocast_create_group(receiver.participant(), "pair", nodes, 2, nullptr), FIBOCAST_OK)
      << fibocast_last_sentence();
  at_all(2, [&](std::uint32_t rank) {
    CMember me(socket_of(cluster, nodes[rank]), "pair");
    EXPECT_EQ(me.rank(), rank);
    fibocast_straggler last = {7, -1};
    EXPECT_EQ(fibocast_barrier(me.group(), nullptr, &last), FIBOCAST_OK);
    EXPECT_LT(last.rank, 2u);
    EXPECT_GE(last.late_ns, 0);
  });
  EXPECT_EQ(fibocast_remove_group(receiver.participant(), "pair"), FIBOCAST_OK) << fibocast_last_sentence();
}

TEST(CApi, AllMembersMayCreateAGroupThatIsMissing) {
  TestCluster cluster;
  cluster.up({"-n", "3"});
  const std::uint32_t nodes[] = {0, 1, 2};
  at_all(3, [&](std::uint32_t rank) {
    CMember me(socket_of(cluster, rank), "all");
    EXPECT_EQ(fibocast_create_group_if_missing(me.participant(), "trio", nodes, 3, "survivors"), FIBOCAST_OK)
        << fibocast_last_sentence();
  });
  CMember me(socket_of(cluster, 0), "trio");
  EXPECT_EQ(fibocast_create_group_if_missing(me.participant(), "trio", nodes, 2, "survivors"), FIBOCAST_INVALID)
      << "it has other members";
  EXPECT_EQ(fibocast_create_group(me.participant(), "trio", nodes, 3, "survivors"), FIBOCAST_INVALID);
  EXPECT_EQ(fibocast_create_group_if_missing(me.participant(), nullptr, nodes, 3, nullptr), FIBOCAST_INVALID);
  EXPECT_EQ(fibocast_create_group_if_missing(me.participant(), "none", nullptr, 3, nullptr), FIBOCAST_INVALID);
}

TEST(CApi, AParticipantThatIsClosedEndsWithTheLastOfItsGroups) {
  TestCluster cluster;
  cluster.up({"-n", "1"});
  fibocast_participant* participant = nullptr;
  fibocast_group* group = nullptr;
  ASSERT_EQ(fibocast_connect(socket_of(cluster, 0).c_str(), &participant), FIBOCAST_OK);
  ASSERT_EQ(fibocast_open(participant, "all", &group), FIBOCAST_OK);
  fibocast_close(participant);
  EXPECT_EQ(fibocast_barrier(group, &kPatient, nullptr), FIBOCAST_OK) << fibocast_last_sentence();
  auto watches = Client::connect(socket_of(cluster, 0));
  ASSERT_TRUE(watches.ok());
  EXPECT_EQ((*watches)->status()->clients, 2u);
  fibocast_leave(group);
  while ((*watches)->status()->clients > 1) std::this_thread::yield();
}

// Several threads may call one node; here one after the other, as a client's threads may too.
TEST(CApi, WhatAThreadHasReceivedIsNotTouchedByAnotherThread) {
  TestCluster cluster;
  cluster.up({"-n", "1"});
  CMember member(socket_of(cluster, 0), "all");
  const std::string mine(1000, 'm'), others(1000, 'o');
  ASSERT_EQ(fibocast_send(member.participant(), 0, 1, mine.data(), mine.size(), 0), FIBOCAST_OK);
  ASSERT_EQ(fibocast_send(member.participant(), 0, 2, others.data(), others.size(), 0), FIBOCAST_OK);
  fibocast_bytes got, got_there;
  ASSERT_EQ(fibocast_receive(member.participant(), 1, kPatienceNs, nullptr, &got), FIBOCAST_OK);
  std::thread([&] {
    ASSERT_EQ(fibocast_receive(member.participant(), 2, kPatienceNs, nullptr, &got_there), FIBOCAST_OK);
    EXPECT_EQ(copy_of(got_there), of_text(others));
  }).join();
  EXPECT_EQ(copy_of(got), of_text(mine));
}

TEST(CApi, ADirectGroupGivesWhatTheDaemonsGroupGives) {
  TestCluster cluster;
  cluster.up({"-n", "3"});
  const fibocast_direct_options patient = {sizeof patient, kPatienceNs, nullptr, nullptr};
  at_all(3, [&](std::uint32_t rank) {
    CMember me(socket_of(cluster, rank), "all");
    fibocast_group* direct = nullptr;
    ASSERT_EQ(fibocast_open_direct(me.participant(), "all", &patient, &direct), FIBOCAST_OK)
        << fibocast_last_sentence();
    EXPECT_EQ(fibocast_rank(direct), rank);
    EXPECT_EQ(fibocast_size(direct), 3u);
    const auto vector = vector_of(rank, 5);
    fibocast_bytes near, far;
    ASSERT_EQ(fibocast_allreduce(direct, vector.data(), vector.size(), FIBOCAST_DOUBLE, FIBOCAST_SUM, &kPatient, &near),
              FIBOCAST_OK)
        << fibocast_last_sentence();
    ASSERT_EQ(
        fibocast_allreduce(me.group(), vector.data(), vector.size(), FIBOCAST_DOUBLE, FIBOCAST_SUM, &kPatient, &far),
        FIBOCAST_OK)
        << fibocast_last_sentence();
    EXPECT_EQ(copy_of(near), copy_of(far));
    fibocast_leave(direct);
  });
}

TEST(CApi, DeadlinesNameTheMissingRanks) {
  TestCluster cluster;
  cluster.up({"-n", "3"});
  CMember me(socket_of(cluster, 1), "all");
  const fibocast_options soon = {sizeof soon, 50'000'000, nullptr, "start"};
  EXPECT_EQ(fibocast_barrier(me.group(), &soon, nullptr), FIBOCAST_DEADLINE_EXCEEDED);
  EXPECT_NE(std::string(fibocast_last_sentence()).find("start"), std::string::npos) << fibocast_last_sentence();
  std::uint32_t ranks[1] = {9};
  EXPECT_EQ(fibocast_last_ranks(ranks, 1), 2u);
  EXPECT_EQ(ranks[0], 0u);
  EXPECT_EQ(fibocast_exit_code(FIBOCAST_DEADLINE_EXCEEDED), 3);
  EXPECT_STREQ(fibocast_code_name(FIBOCAST_DEADLINE_EXCEEDED), "DEADLINE_EXCEEDED");
  at_all(2, [](std::uint32_t) { EXPECT_STREQ(fibocast_last_sentence(), ""); });  // of this thread alone
}

TEST(CApi, WrongUseIsInvalidAndSaysWhy) {
  TestCluster cluster;
  cluster.up({"-n", "2"});
  fibocast_participant* none = nullptr;
  EXPECT_EQ(fibocast_connect("/nowhere/at/all", &none), FIBOCAST_UNAVAILABLE);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(fibocast_connect("x", nullptr), FIBOCAST_INVALID);
  EXPECT_EQ(fibocast_barrier(nullptr, nullptr, nullptr), FIBOCAST_INVALID);
  EXPECT_EQ(fibocast_node_count(nullptr), 0u);
  fibocast_leave(nullptr);
  fibocast_close(nullptr);

  CMember me(socket_of(cluster, 0), "all");
  const auto refused = [&](fibocast_code code, const std::string& word) {
    EXPECT_EQ(code, FIBOCAST_INVALID);
    EXPECT_NE(std::string(fibocast_last_sentence()).find(word), std::string::npos) << fibocast_last_sentence();
  };
  fibocast_options unsized = {};
  refused(fibocast_barrier(me.group(), &unsized, nullptr), "struct_size");
  const fibocast_options strange = {sizeof strange, 0, "zigzag", nullptr};
  refused(fibocast_barrier(me.group(), &strange, nullptr), "zigzag");
  refused(fibocast_multicast(me.group(), 0, nullptr, 5, nullptr, nullptr), "NULL");
  refused(fibocast_multicast(me.group(), 2, nullptr, 0, nullptr, nullptr), "no such rank");
  const double one = 1;
  refused(fibocast_allreduce(me.group(), &one, 1, static_cast<fibocast_type>(9), FIBOCAST_SUM, nullptr, nullptr),
          "type");
  refused(fibocast_allreduce(me.group(), &one, 1, FIBOCAST_DOUBLE, FIBOCAST_XOR, nullptr, nullptr), "operator");
  refused(fibocast_allreduce(me.group(), &one, SIZE_MAX / 2, FIBOCAST_DOUBLE, FIBOCAST_SUM, nullptr, nullptr), "");
  fibocast_group* direct = nullptr;
  const fibocast_direct_options unsized_direct = {};
  refused(fibocast_open_direct(me.participant(), "all", &unsized_direct, &direct), "struct_size");
  refused(fibocast_open_direct(me.participant(), nullptr, nullptr, &direct), "NULL");
  fibocast_node_options node = {};
  refused(fibocast_start_node(&node, &none), "struct_size");
  node.struct_size = sizeof node;
  refused(fibocast_start_node(&node, &none), "nodes");
}

}  // namespace
}  // namespace fibocast
