#include "collectives/models/workstations_file.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

WorkstationCluster read(std::string_view text) {
  std::string error;
  auto cluster = parse_workstations(text, WorkstationPreset::kLiteral, error);
  EXPECT_TRUE(cluster) << error;
  return cluster.value_or(WorkstationCluster{});
}

std::string refusal(std::string_view text) {
  std::string error;
  EXPECT_FALSE(parse_workstations(text, WorkstationPreset::kFolded, error)) << text;
  return error;
}

TEST(WorkstationsFile, ThePresetsTypesAndLink) {
  const WorkstationCluster cluster = read("nodes fast 2 # two\n\nnodes slow\n");
  ASSERT_EQ(cluster.nodes.size(), 3u);
  EXPECT_EQ(cluster.types[cluster.nodes[1]].send, Rational(60));
  EXPECT_EQ(cluster.types[cluster.nodes[2]].send_per_byte, Rational(9, 50));
  EXPECT_EQ(cluster.link.latency, Rational(16));
}

TEST(WorkstationsFile, OwnTypesWithUnits) {
  const WorkstationCluster cluster =
      read("type slow 1/3 0 2us 30ns\r\ntype x 5 1 2 3\nlink 0 1.5\nnodes x\nnodes slow 1");
  const WorkstationType& x = cluster.types[cluster.nodes[0]];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.receive_per_byte, Rational(3));
  const WorkstationType& slow = cluster.types[cluster.nodes[1]];
  EXPECT_EQ(slow.send, Rational(1, 3));
  EXPECT_EQ(slow.receive, Rational(2));
  EXPECT_EQ(slow.receive_per_byte, Rational(3, 100));
  EXPECT_EQ(cluster.link.per_byte, Rational(3, 2));
}

TEST(WorkstationsFile, Refusals) {
  EXPECT_EQ(refusal("nodes fast\nnodes quick 3"), "line 2: there is no type \"quick\" above this line");
  EXPECT_EQ(refusal("type a 1 2 3 x"), "line 1: \"x\" is no cost: write 90, 0.18, 9/5 or 90us");
  EXPECT_EQ(refusal("type a 1 -2 3 4"), "line 1: \"-2\" is no cost: write 90, 0.18, 9/5 or 90us");
  EXPECT_EQ(refusal("type a 0 2 3 4"), "line 1: the send cost of the type \"a\" must be above 0");
  EXPECT_EQ(refusal("type a 1 2 3 4\ntype a 1 2 3 4"), "line 2: the type \"a\" is here for the second time");
  EXPECT_EQ(refusal("nodes fast -1"), "line 1: \"-1\" is no number of nodes");
  EXPECT_EQ(refusal("nodes fast\nnodes slow 1000000"), "line 2: these are more than 1000000 nodes");
  EXPECT_EQ(refusal("nodes fast 99999999999999999999"), "line 1: \"99999999999999999999\" is no number of nodes");
  EXPECT_TRUE(refusal("link 3").starts_with("line 1: write "));
  EXPECT_TRUE(refusal("fast 3").starts_with("line 1: write "));
  for (const char* nothing : {"", "# nothing", "link 1 1", "nodes fast 0"})
    EXPECT_EQ(refusal(nothing), "there are no nodes: write \"nodes NAME [COUNT]\"");
}

}  // namespace
}  // namespace fibocast
