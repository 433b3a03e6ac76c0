// The direction of the layers: reads every #include line of the tree, and shows that a bad one is noticed.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/house/include_rules.h"
#include "tests/house/read_file.h"

namespace fibocast {
namespace {

namespace fs = std::filesystem;

TEST(IncludeDirection, HoldsInTheWholeTree) {
  const fs::path root = FIBOCAST_SOURCE_DIR;
  int files = 0;
  for (const char* folder : {"collectives", "transport", "runtime", "firmware_sim"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") continue;
      ++files;
      for (const std::string& fault :
           judge_includes(fs::relative(entry.path(), root).string(), read_file(entry.path())))
        ADD_FAILURE() << fault;
    }
  }
  EXPECT_GE(files, 5) << "the walk found hardly any file: is the source folder right?";
}

struct Planted {
  const char* path;
  const char* line;
  bool allowed;
};

TEST(IncludeDirection, NoticesAPlantedBadLine) {
  const Planted cases[] = {
      {"collectives/types.h", "#include <cstdint>", true},
      {"collectives/types.h", "#include \"transport/transport.h\"", false},
      {"collectives/types.h", "#include <vector>", false},
      {"collectives/types.h", "#include \"types.h\"", false},
      {"transport/frame.cc", "#include \"transport/frame.h\"", true},
      {"transport/frame.cc", "#include \"collectives/types.h\"", false},
      {"transport/frame.cc", "#include <boost/asio.hpp>", false},
      {"transport/reliable_channel.h", "  #  include <sys/socket.h>", false},
      {"runtime/node/node.h", "#include \"collectives/plan.h\"", true},
      {"runtime/node/node.h", "#include \"runtime/wire/peer.h\"", false},
      {"runtime/node/node.h", "#include <unistd.h>", false},
      {"runtime/wire/codec.cc", "#include <google/protobuf/message.h>", true},
      {"runtime/wire/codec.cc", "#include \"runtime/daemon/daemon.h\"", false},
      {"runtime/daemon/daemon.cc", "#include <boost/asio.hpp>", true},
      {"runtime/daemon/daemon.cc", "#include \"firmware_sim/machine.h\"", false},
      {"firmware_sim/machine.cc", "#include \"runtime/node/node.h\"", true},
      {"firmware_sim/machine.cc", "#include <boost/asio/steady_timer.hpp>", false},
      {"firmware_sim/machine.cc", "#include \"runtime/daemon/daemon.h\"", false},
      {"somewhere/else.cc", "", false},
  };
  for (const Planted& c : cases)
    EXPECT_EQ(judge_includes(c.path, std::string("// first\n") + c.line + "\n").empty(), c.allowed)
        << c.path << ": " << c.line;
}

TEST(IncludeDirection, NamesFileAndLine) {
  const auto faults =
      judge_includes("collectives/types.h", "#pragma once\n#include <cstdint>\n#include <boost/asio.hpp>\n");
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].substr(0, 22), "collectives/types.h:3:");
}

}  // namespace
}  // namespace fibocast
