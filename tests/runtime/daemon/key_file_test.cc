#include "runtime/daemon/key_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fibocast {
namespace {

class KeyFile : public ::testing::Test {
 protected:
  KeyFile() {
    std::string name = (std::filesystem::temp_directory_path() / "fibocast-key-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    path_ = folder_ / "key";
  }
  ~KeyFile() override { std::filesystem::remove_all(folder_); }
  std::string mistake() {
    try {
      read_key_file(path_);
      return "";
    } catch (const KeyError& error) {
      return error.what();
    }
  }
  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(KeyFile, IsMadeForItsOwnerOnlyAndReadAgain) {
  const KeyRing ring(ClusterKey::generate());
  create_key_file(path_, ring);
  struct stat info;
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777u, 0600u);
  EXPECT_EQ(read_key_file(path_).primary().id(), ring.primary().id());
  EXPECT_THROW(create_key_file(path_, ring), KeyError) << "one that is there is not overwritten";
}

TEST_F(KeyFile, IsReplacedAsAWhole) {
  create_key_file(path_, KeyRing(ClusterKey::generate()));
  KeyRing ring = read_key_file(path_);
  ring.accept(ClusterKey::generate());
  replace_key_file(path_, ring);
  EXPECT_EQ(read_key_file(path_).keys().size(), 2u);
  EXPECT_FALSE(std::filesystem::exists(path_ + ".new"));
}

TEST_F(KeyFile, WhatOthersMayReadIsRefused) {
  create_key_file(path_, KeyRing(ClusterKey::generate()));
  for (const mode_t bad : {0604u, 0640u, 0644u, 0660u, 0601u}) {
    ASSERT_EQ(chmod(path_.c_str(), bad), 0);
    EXPECT_NE(mistake().find("chmod 600"), std::string::npos) << mistake();
  }
  ASSERT_EQ(chmod(path_.c_str(), 0400), 0);
  EXPECT_EQ(mistake(), "");
}

TEST_F(KeyFile, AMistakeNamesTheFile) {
  EXPECT_NE(mistake().find("fibocast key generate " + path_), std::string::npos) << mistake();
  std::ofstream(path_) << "nothing\n";
  chmod(path_.c_str(), 0600);
  EXPECT_TRUE(mistake().starts_with(path_ + ": line 1 is not")) << mistake();
  path_ = folder_;
  EXPECT_NE(mistake().find("is no file"), std::string::npos) << mistake();
}

}  // namespace
}  // namespace fibocast
