// The program fibocast-simulate as `fibocast` finds it.
#include <gtest/gtest.h>

#include <algorithm>
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

TEST(SimulateProgram, HelpHasAnExample) {
  const Ended ended = TestCluster().run({"simulate", "--help"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.out.find("Example: fibocast simulate"), std::string::npos);
}

TEST(SimulateProgram, WrongUseIsOneSentence) {
  TestCluster here;
  const std::vector<Words> wrongs = {{"--machine", "cray", "--operation", "barrier", "--ranks", "2"},
                                     {"--machine", "none.toml", "--operation", "barrier", "--ranks", "2"},
                                     {"--operation", "dance", "--ranks", "2"},
                                     {"--operation", "multicast", "--ranks", "2", "--tree", "oak"},
                                     {"--operation", "multicast"},
                                     {"--replay", "none.json"}};
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
