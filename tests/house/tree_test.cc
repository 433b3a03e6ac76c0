// What lies in the tree: the fixed folders at the top, the head of every header, and nothing that only
// exists on the machine where it was written.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tests/house/read_file.h"

namespace fibocast {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = FIBOCAST_SOURCE_DIR;
// Not ours: the repository, what is built, what programs wrote.
const std::set<std::string> kNotSource = {".git", "build", "results", "__pycache__"};

std::vector<fs::path> source_files() {
  std::vector<fs::path> files;
  for (auto it = fs::recursive_directory_iterator(kRoot); it != fs::recursive_directory_iterator(); ++it) {
    if (kNotSource.contains(it->path().filename().string())) {
      if (it->is_directory()) it.disable_recursion_pending();
      continue;
    }
    if (it->is_regular_file()) files.push_back(it->path());
  }
  return files;
}

TEST(Tree, TopLevelFoldersAreTheFixedOnes) {
  const std::set<std::string> allowed = {".ci",          "collectives", "transport", "runtime",
                                         "firmware_sim", "docker",      "tests"};
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(kRoot)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && !kNotSource.contains(name)) found.insert(name);
  }
  EXPECT_EQ(found, allowed);
}

// Texts that only mean something on one machine. Written in two halves, or this file would find itself.
std::vector<std::string> foreign_mentions(const std::string& text) {
  std::vector<std::string> found;
  for (const std::string& word : {std::string("/wo") + "rk/", std::string("../sha") + "red"})
    if (text.find(word) != std::string::npos) found.push_back(word);
  return found;
}

TEST(Tree, NoFileMentionsTheMachineItWasWrittenOn) {
  for (const fs::path& file : source_files())
    for (const std::string& word : foreign_mentions(read_file(file))) ADD_FAILURE() << file << " mentions " << word;
}

TEST(Tree, AForeignMentionIsNoticed) {
  EXPECT_EQ(foreign_mentions("see /wo"
                             "rk/main")
                .size(),
            1u);
  EXPECT_EQ(foreign_mentions("#include \"../sha"
                             "red/x.h\"")
                .size(),
            1u);
  EXPECT_TRUE(foreign_mentions("a network/worker").empty());
}

TEST(Tree, HeadersBeginWithTheirReasonAndPragmaOnce) {
  for (const fs::path& file : source_files()) {
    if (file.extension() != ".h") continue;
    const std::string text = read_file(file);
    EXPECT_TRUE(text.starts_with("//")) << file << ": the first line says why the file exists";
    EXPECT_NE(text.find("#pragma once\n"), std::string::npos) << file;
  }
}

TEST(Tree, FilesAreShort) {
  for (const fs::path& file : source_files()) {
    if (file.extension() != ".h" && file.extension() != ".cc") continue;
    const std::string text = read_file(file);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 400) << file << ": split it";
  }
}

}  // namespace
}  // namespace fibocast
