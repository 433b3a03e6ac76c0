// fibocast plan workstations, fibocast plan figure, and fibocast plan tree on different nodes or with a tree in a file.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/runtime/cli/plan_program.h"

namespace fibocast {
namespace {

using test::Json;
using test::json;
using test::refusal;
using test::run;

// A file as long as the test lasts.
class TextFile {
 public:
  explicit TextFile(const std::string& text) : path_(testing::TempDir() + "fibocast_plan_" + unique()) {
    std::ofstream(path_) << text;
  }
  ~TextFile() { std::remove(path_.c_str()); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  // Each test is a process of its own under ctest.
  std::string unique() const {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    return std::string(test->name()) + std::to_string(reinterpret_cast<std::uintptr_t>(this));
  }
  std::string path_;
};

const NodesOptions kFfss = {.configuration = "FFSS"};

TEST(PlanWorkstations, BroadcastScatterGather) {
  const Json broadcast = json(PlanWorkstationsOptions{.tree = "binomial", .nodes = kFfss});
  EXPECT_EQ(broadcast.dump(), R"({"operation":"broadcast","ranks":4,"root":0,"bytes":0,"preset":"folded","unit":"us",)"
                              R"("completion":430,"times":[0,230,200,430],"tree":"binomial",)"
                              R"("children":[[2,1],[],[3],[]],"nodes":["fast","fast","slow","slow"]})");
  EXPECT_EQ(json(PlanWorkstationsOptions{.operation = "scatter", .nodes = kFfss})["completion"], 320);
  const Json gather = json(PlanWorkstationsOptions{
      .operation = "gather", .nodes = {.configuration = "FFFF", .preset = "literal", .bytes = 1024}});
  EXPECT_EQ(gather["completion"], 631.28);
  EXPECT_EQ(gather["completion_serialised"], 631.28);
  EXPECT_EQ(gather["arrive"], Json({209.12, 307.04, 404.96}));
}

TEST(PlanWorkstations, OwnNodesAnyTreeAnyRoot) {
  const TextFile nodes(
      "type a 70 3 111 1\ntype b 39 1 143 3\ntype c 11 0 50 0\ntype d 48 0 78 3\nlink 16 1\n"
      "nodes a\nnodes b\nnodes c\nnodes d\n");
  PlanWorkstationsOptions options{.nodes = {.file = nodes.path(), .bytes = 50}};
  EXPECT_EQ(json(options)["completion"], 706);
  options.tree = "heterogeneous:plain";
  EXPECT_EQ(json(options)["completion"], 717);
  options.tree = "sequential";
  EXPECT_EQ(json(options)["completion"], 954);
  const TextFile tree("1 - 1 1 order 0 1 3 2");
  options.tree = "file:" + tree.path();
  EXPECT_EQ(json(options)["children"], Json::parse("[[],[0,3,2],[],[]]"));
  options.root = 0;
  EXPECT_NE(refusal(options).find("root 1"), std::string::npos);
}

TEST(PlanWorkstations, Text) {
  const test::PlanRun broadcast = run(PlanWorkstationsOptions{.tree = "sequential", .nodes = kFfss});
  EXPECT_EQ(broadcast.out,
            "broadcast of 0 bytes from rank 0: 320 us\n\n0  fast  at 0 us\n1  fast  at 170 us\n2  slow  at 260 us\n"
            "3  slow  at 320 us\n");
  EXPECT_NE(run(PlanWorkstationsOptions{.operation = "gather", .nodes = kFfss}).out.find("390 us by equation 12"),
            std::string::npos);
}

TEST(PlanWorkstations, Refusals) {
  refusal(PlanWorkstationsOptions{});
  refusal(PlanWorkstationsOptions{.operation = "reduce", .nodes = kFfss});
  refusal(PlanWorkstationsOptions{.tree = "fibo", .nodes = kFfss});
  refusal(PlanWorkstationsOptions{.root = 4, .nodes = kFfss});
  refusal(PlanWorkstationsOptions{.nodes = {.configuration = "FXS"}});
  refusal(PlanWorkstationsOptions{.nodes = {.configuration = "FS", .preset = "other"}});
  refusal(PlanWorkstationsOptions{.nodes = {.configuration = "FS", .bytes = UINT64_MAX}});
  refusal(PlanWorkstationsOptions{.nodes = {.file = "/no/such/file"}});
  const TextFile nodes("nodes fast\nnodes quick");
  EXPECT_EQ(refusal(PlanWorkstationsOptions{.nodes = {.file = nodes.path()}}),
            "fibocast: " + nodes.path() + ": line 2: there is no type \"quick\" above this line\n");
}

TEST(PlanTree, OnDifferentNodes) {
  const Json tree = json(PlanTreeOptions{.tree = "hierarchical", .nodes = {.configuration = "FFFFSSSS"}});
  EXPECT_EQ(tree["ranks"], 8);
  EXPECT_EQ(tree["unit"], "us");
  EXPECT_EQ(tree["completion"], 490);
  EXPECT_EQ(tree["parent"], Json({-1, 0, 0, 0, 0, 1, 2, 3}));
  EXPECT_EQ(tree["activation"], Json({0, 170, 230, 290, 380, 370, 430, 490}));
  const Json best = json(PlanTreeOptions{.tree = "heterogeneous", .ranks = 4, .root = 2, .nodes = kFfss});
  EXPECT_EQ(best["root"], 2);
  refusal(PlanTreeOptions{.tree = "heterogeneous", .ranks = 5, .nodes = kFfss});
  refusal(PlanTreeOptions{.tree = "heterogeneous", .root = 4, .nodes = kFfss});
  refusal(PlanTreeOptions{.tree = "heterogeneous", .costs = {.s = "1", .r = "1"}, .nodes = kFfss});
  refusal(PlanTreeOptions{.tree = "heterogeneous", .ranks = 4});
  EXPECT_NE(run(PlanTreeOptions{.tree = "heterogeneous", .nodes = kFfss}).out.find("distribution: "),
            std::string::npos);
}

TEST(PlanTree, FromAFile) {
  const TextFile file("- 0 0 1\norder 0 2 1 3\n");
  const Json tree = json(PlanTreeOptions{.tree = "file:" + file.path(), .costs = {.s = "1", .r = "3"}});
  EXPECT_EQ(tree["ranks"], 4);
  EXPECT_EQ(tree["children"], Json::parse("[[2,1],[3],[],[]]"));
  EXPECT_EQ(tree["activation"], Json({0, 5, 4, 9}));
  refusal(PlanTreeOptions{.tree = "file:" + file.path(), .ranks = 5});
  refusal(PlanTreeOptions{.tree = "file:" + file.path(), .root = 1});
  refusal(PlanTreeOptions{.tree = "file:/no/such/file"});
  refusal(PlanTreeOptions{.tree = "file:" + testing::TempDir()});
  const TextFile circle("- 2 1");
  EXPECT_NE(refusal(PlanTreeOptions{.tree = "file:" + circle.path()}).find("circle"), std::string::npos);
}

TEST(PlanTree, RanksAreNeeded) { refusal(PlanTreeOptions{.tree = "binomial"}); }

TEST(PlanFigure, Json) {
  const Json figure = json(PlanFigureOptions{.figure = "003:10"});
  EXPECT_EQ(figure["figure"], "003:10");
  EXPECT_EQ(figure["columns"][1], "sequential");
  EXPECT_EQ(figure["rows"][17], Json({19, 574, 460, 372, 345, 311}));
  EXPECT_EQ(json(PlanFigureOptions{.figure = "001:table1"})["rows"][0], Json::parse(R"(["slow",90,0.18,140,0.08])"));
}

TEST(PlanFigure, TextIsInColumns) {
  EXPECT_NE(run(PlanFigureOptions{.figure = "001:table2"}).out.find("  fast      slow     200      216\n"),
            std::string::npos);
}

TEST(PlanFigure, List) {
  const Json list = json(PlanFigureOptions{.list = true})["figures"];
  EXPECT_GE(list.size(), 17u);
  EXPECT_NE(run(PlanFigureOptions{.list = true}).out.find("003:10  "), std::string::npos);
}

TEST(PlanFigure, Refusals) {
  refusal(PlanFigureOptions{});
  refusal(PlanFigureOptions{.figure = "003:99"});
}

}  // namespace
}  // namespace fibocast
