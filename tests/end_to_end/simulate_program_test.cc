// The program fibocast-simulate as `fibocast` finds it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

TEST(SimulateProgram, AnswersWithOneDocumentAndAFile) {
  TestCluster here;
  const std::string trace = here.file("simulated.json");
  const Ended ended = here.run({"simulate", "--machine", "manna", "--operation", "multicast", "--tree", "fibo",
                                "--ranks", "16", "--json", "--trace", trace});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.json()["activation_ns"].size(), 16u);
  std::ifstream file(trace);
  EXPECT_EQ(Json::parse(file).size(), 2 * 15u);
}

TEST(SimulateProgram, SaysItsVersion) {
  TestCluster here;
  const Ended ended = here.run({"simulate", "--version"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_TRUE(ended.out.starts_with("fibocast-simulate ")) << ended.out;
  EXPECT_NE(ended.out.find(", protocol "), std::string::npos) << ended.out;
}

TEST(SimulateProgram, AFailureWithJsonIsADocument) {
  TestCluster here;
  const Words words = {"simulate", "--machine", "manna",   "--operation",   "barrier",
                       "--ranks",  "4",         "--trace", "/nowhere/trace"};
  const Ended text = here.run(words);
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_EQ(text.out, "");
  Words with_json = words;
  with_json.push_back("--json");
  const Ended ended = here.run(with_json);
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.err, "");
  ASSERT_TRUE(Json::accept(ended.out)) << ended.out;
  EXPECT_EQ(ended.json()["status"], "FAILED");
  EXPECT_EQ("fibocast-simulate: " + ended.json()["sentence"].get<std::string>() + "\n", text.err);
}

TEST(SimulateProgram, FaultsHaveAnAnswerAndAnExitCode) {
  TestCluster here;
  const std::string faults = here.file("faults.toml");
  std::ofstream(faults) << "[[fault]]\nkind = 'loss'\nprobability = 0.2\n";
  const Words words = {"simulate", "--machine", "manna", "--operation", "barrier", "--ranks",
                       "8",        "--faults",  faults,  "--json",      "--seed",  "5"};
  const Ended delayed = here.run(words);
  ASSERT_EQ(delayed.exit_code, 0) << delayed.err;
  EXPECT_EQ(delayed.json()["verdict_of_rank"], Json(std::vector<std::string>(8, "OK")));
  EXPECT_EQ(delayed.json()["fidelity"], "node");
  EXPECT_EQ(here.run(words).out, delayed.out);
  std::ofstream(faults) << "[[fault]]\nkind = 'crash'\nnodes = [3]\n";
  const Ended failed = here.run(words);
  EXPECT_EQ(failed.exit_code, 4);
  EXPECT_EQ(failed.err, "");
  EXPECT_EQ(failed.json()["missing"][0], Json({3}));
  EXPECT_EQ(failed.json()["verdict_of_rank"][3], "NO_ANSWER");
}

// A chain of 4 that begins at rank 2: each waits for the one before, s + r = 115 us.
TEST(SimulateProgram, AnyTreeOfAFile) {
  TestCluster here;
  const std::string tree = here.file("chain.tree");
  std::ofstream(tree) << "2 0 - 1  # a chain\n";
  const Words words = {"simulate", "--machine", "manna",  "--operation",  "multicast",
                       "--ranks",  "4",         "--tree", "file:" + tree, "--json"};
  const Ended ended = here.run(words);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.json()["completion_ns"], 3 * 115'000);
  EXPECT_EQ(ended.json()["activation_ns"], Json({115'000, 230'000, 0, 345'000}));
  Words turned = words;
  turned.insert(turned.end(), {"--root", "0"});
  EXPECT_EQ(here.run(turned).json()["activation_ns"][0], 0) << "the same tree, turned";
  Words whole = words;
  whole.insert(whole.end(), {"--fidelity", "node"});
  EXPECT_EQ(here.run(whole).json()["completion_ns"], 3 * 115'000);
  std::ofstream(tree) << "- 0 0\n";
  const Ended other = here.run(words);
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.json()["sentence"].get<std::string>().find("has 3 ranks, and the operation 4"), std::string::npos)
      << other.out;
  std::ofstream(tree) << "- 9 0 0\n";
  EXPECT_EQ(here.run(words).exit_code, 2);
}

TEST(SimulateProgram, HelpHasAnExample) {
  const Ended ended = TestCluster().run({"simulate", "--help"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.out.find("Example: fibocast simulate"), std::string::npos);
}

TEST(SimulateProgram, WrongUseIsOneSentence) {
  TestCluster here;
  const std::vector<Words> wrongs = {
      {"--machine", "cray", "--operation", "barrier", "--ranks", "2"},
      {"--machine", "none.toml", "--operation", "barrier", "--ranks", "2"},
      {"--operation", "dance", "--ranks", "2"},
      {"--operation", "multicast", "--ranks", "2", "--tree", "oak"},
      {"--operation", "multicast", "--ranks", "2", "--tree", "file:none"},
      {"--operation", "multicast"},
      {"--replay", "none.json"},
      {"--operation", "barrier", "--ranks", "2", "--machine", "manna", "--faults", "none"},
      {"--operation", "barrier", "--ranks", "2", "--faults", "/dev/null"},
      {"--operation", "barrier", "--ranks", "2", "--machine", "manna", "--faults", "/dev/null", "--fidelity", "engine"},
      {"--operation", "barrier", "--ranks", "2", "--machine", "manna", "--faults", "/dev/null", "--timeline"},
      {"--operation", "barrier", "--ranks", "2", "--machine", here.file("folder.toml")},
      {"--operation", "barrier", "--ranks", "2", "--tree", "file:" + here.file("folder.toml")},
      {"--replay", "none.json", "--ranks", "4"},
      {"--replay", "none.json", "--faults", "/dev/null"}};
  std::filesystem::create_directory(here.file("folder.toml"));
  for (Words words : wrongs) {
    words.insert(words.begin(), "simulate");
    const Ended ended = here.run(words);
    EXPECT_EQ(ended.exit_code, 2) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
  }
}

}  // namespace
}  // namespace fibocast
