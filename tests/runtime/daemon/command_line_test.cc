#include "runtime/daemon/command_line.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

CommandLine read(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "fibocastd");
  return read_command_line(static_cast<int>(arguments.size()), arguments.data(),
                           [](const char*) -> const char* { return nullptr; });
}

TEST(CommandLine, LongAndShortFlags) {
  const CommandLine line = read({"--rank", "1", "--nodes", "a:1,b:2", "--model.s_ns=5", "--insecure"});
  ASSERT_FALSE(line.exit_code) << line.output;
  EXPECT_EQ(line.loaded.settings.node.rank, 1u);
  EXPECT_EQ(line.loaded.settings.model.s_ns, 5);
  EXPECT_EQ(line.loaded.settings.security.mode, SecurityMode::kInsecure);
  EXPECT_EQ(line.loaded.origin_of("node.rank"), "flag --node.rank");
}

TEST(CommandLine, HelpHasAnExample) {
  const CommandLine line = read({"--help"});
  EXPECT_EQ(line.exit_code, 0);
  EXPECT_NE(line.output.find("fibocastd --rank 1 --nodes"), std::string::npos);
}

TEST(CommandLine, VersionIsThatOfProgramAndProtocols) {
  const CommandLine line = read({"--version"});
  EXPECT_EQ(line.exit_code, 0);
  EXPECT_TRUE(line.output.starts_with("fibocastd ")) << line.output;
  EXPECT_NE(line.output.find(", protocol 2.0, client protocol 1.0\n"), std::string::npos) << line.output;
}

TEST(CommandLine, CheckConfig) {
  EXPECT_EQ(read({"--check-config"}).exit_code, 0);
  const CommandLine wrong = read({"--check-config", "--rank", "7"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.output,
            "fibocastd: flag --node.rank: node.rank is 7, but cluster.nodes has 1 entries; allowed: 0 to 0\n");
}

TEST(CommandLine, CheckConfigFindsWhatWouldNotStart) {
  const CommandLine key = read({"--check-config", "--key-file", "/nowhere/key"});
  EXPECT_EQ(key.exit_code, 2);
  EXPECT_NE(key.output.find("security.key_file: /nowhere/key"), std::string::npos) << key.output;
  EXPECT_EQ(std::count(key.output.begin(), key.output.end(), '\n'), 1);
  const CommandLine folder = read({"--check-config", "--config", "/tmp"});
  EXPECT_EQ(folder.exit_code, 2);
  EXPECT_EQ(folder.output, "fibocastd: /tmp: is a folder; give the file in it\n");
  EXPECT_EQ(read({"--config", "/tmp"}).exit_code, 2);
}

TEST(CommandLine, PrintConfig) {
  const CommandLine line = read({"--print-config", "--name", "render"});
  EXPECT_EQ(line.exit_code, 0);
  EXPECT_NE(line.output.find("name = \"render\""), std::string::npos) << line.output;
}

TEST(CommandLine, AnUnknownFlagIsOneSentence) {
  const CommandLine line = read({"--rnak", "7"});
  EXPECT_EQ(line.exit_code, 2);
  EXPECT_NE(line.output.find("--rnak"), std::string::npos) << line.output;
  EXPECT_EQ(std::count(line.output.begin(), line.output.end(), '\n'), 1);
}

}  // namespace
}  // namespace fibocast
