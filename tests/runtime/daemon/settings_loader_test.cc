#include "runtime/daemon/settings_loader.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "runtime/daemon/settings_fields.h"

namespace fibocast {
namespace {

using Flags = std::map<std::string, std::string>;

class SettingsLoader : public ::testing::Test {
 protected:
  SettingsLoader()
      : folder_(std::filesystem::temp_directory_path() / ("fibocast-settings-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~SettingsLoader() override { std::filesystem::remove_all(folder_); }

  LoadedSettings load(const std::string& file, const Flags& environment = {}, const Flags& flags = {}) {
    const std::string path = folder_ / "node.toml";
    std::ofstream(path) << file;
    const Environment get = [&](const char* name) {
      const auto it = environment.find(name);
      return it == environment.end() ? nullptr : it->second.c_str();
    };
    return load_settings(path, get, flags);
  }
  // The sentence, without the folder.
  std::string mistake(const std::string& file, const Flags& environment = {}, const Flags& flags = {}) {
    try {
      check_security(load(file, environment, flags));
    } catch (const SettingsError& error) {
      std::string text = error.what();
      const auto at = text.find(folder_.string() + "/");
      return at == std::string::npos ? text : text.erase(at, folder_.string().size() + 1);
    }
    return "no mistake";
  }

  std::filesystem::path folder_;
};

const std::string kThree = "[cluster]\nnodes = [\"n0:7117\", \"n1:7118\", \"n2:7119\"]\n";

TEST_F(SettingsLoader, NothingGivenIsAClusterOfOne) {
  const Settings settings = load("").settings;
  EXPECT_EQ(settings.node.rank, 0u);
  EXPECT_EQ(settings.node.listen, "127.0.0.1:7117");
  EXPECT_EQ(settings.default_deadline_ms, 30'000);
}

TEST_F(SettingsLoader, ReadsAFile) {
  const Settings settings = load(kThree +
                                 "[node]\nrank = 2\n[model]\ns_ns = 27000\nl_ns = 40000\no_ns = 48000\n"
                                 "[runtime]\nwait = \"block\"\n[emulation]\nscale = 100\n"
                                 "[security]\nkey_file = \"key\"\nmode = \"integrity\"\n")
                                .settings;
  EXPECT_EQ(settings.node.rank, 2u);
  EXPECT_EQ(settings.node.listen, "0.0.0.0:7119");
  EXPECT_EQ(settings.node.advertise, "n2:7119");
  EXPECT_EQ(settings.model.r(), 88'000);
  EXPECT_EQ(settings.wait, WaitPolicy::kBlock);
  EXPECT_EQ(settings.emulation.scale, 100);
  EXPECT_EQ(settings.security.key_file, "key");
  EXPECT_EQ(settings.security.mode, SecurityMode::kIntegrity);
}

TEST_F(SettingsLoader, FlagBeforeEnvironmentBeforeFileBeforeDefault) {
  const std::string file = "[model]\ns_ns = 1\nl_ns = 1\no_ns = 1\n";
  const auto loaded = load(file, {{"FIBOCAST_MODEL_L_NS", "2"}, {"FIBOCAST_MODEL_O_NS", "2"}}, {{"model.o_ns", "3"}});
  EXPECT_EQ(loaded.settings.model.s_ns, 1);
  EXPECT_EQ(loaded.settings.model.l_ns, 2);
  EXPECT_EQ(loaded.settings.model.o_ns, 3);
  EXPECT_TRUE(loaded.origin_of("model.s_ns").ends_with("node.toml:2"));
  EXPECT_EQ(loaded.origin_of("model.l_ns"), "environment FIBOCAST_MODEL_L_NS");
  EXPECT_EQ(loaded.origin_of("model.o_ns"), "flag --model.o_ns");
  EXPECT_EQ(loaded.origin_of("log.level"), "default");
}

TEST_F(SettingsLoader, EveryMistakeIsOneSentenceWithItsPlace) {
  EXPECT_EQ(mistake("[node]\nrank = -1\n"), "node.toml:2: node.rank is '-1'; allowed: 0 to 65534");
  EXPECT_EQ(mistake("[node]\nrank = \"3\"\n"), "node.toml:2: node.rank is '3'; allowed: 0 to 65534");
  EXPECT_EQ(mistake("[runtime]\n\nwait = \"sleep\"\n"),
            "node.toml:3: runtime.wait is 'sleep'; allowed: adaptive, block, poll");
  EXPECT_EQ(mistake("[runtime]\nwayt = 1\n"),
            "node.toml:2: there is no setting 'runtime.wayt'; the nearest is 'runtime.wait'");
  EXPECT_EQ(mistake("", {{"FIBOCAST_LOG_FORMAT", "xml"}}),
            "environment FIBOCAST_LOG_FORMAT: log.format is 'xml'; allowed: text, json");
  EXPECT_EQ(mistake("", {}, {{"faults.loss_percent", "101"}}),
            "flag --faults.loss_percent: faults.loss_percent is '101'; allowed: 0 to 100");
  EXPECT_EQ(mistake(kThree),
            "default: node.rank is not set; give the position of this daemon in cluster.nodes, 0 to 2");
  EXPECT_EQ(mistake(kThree + "[node]\nrank = 3\n"),
            "node.toml:4: node.rank is 3, but cluster.nodes has 3 entries; allowed: 0 to 2");
  EXPECT_EQ(mistake("[cluster]\nnodes = [\"n0\"]\n"),
            "node.toml:2: cluster.nodes has 'n0'; allowed: host:port with a port from 1 to 65535");
  EXPECT_EQ(mistake("[cluster]\nnodes = [\"n0:1\", \"n0:1\"]\n"), "node.toml:2: cluster.nodes names 'n0:1' twice");
  EXPECT_EQ(mistake("[cluster]\nnodes = []\n"), "node.toml:2: cluster.nodes is ''; allowed: a list of host:port");
  EXPECT_EQ(mistake("[cluster]\nnodes = 7\n"), "node.toml:2: cluster.nodes is 7; allowed: a list of host:port");
  EXPECT_EQ(mistake("[model]\nl_ns = 0\no_ns = 0\n"),
            "node.toml:2: model.l_ns and model.o_ns are both 0; allowed: r = l + o > 0");
  EXPECT_EQ(mistake("[emulation]\ncharge_control = true\n"),
            "node.toml:2: emulation.charge_control is true, which this version cannot do; allowed: false");
  EXPECT_EQ(mistake(kThree + "[node]\nrank = 0\n[emulation]\nmesh_links = \"/tmp/links\"\nmesh_places = \"0,0\"\n"),
            "node.toml:7: emulation.mesh_places does not place the 3 nodes; allowed: 0 to 2 in any order, full rows of "
            "emulation.mesh_columns");
  EXPECT_EQ(mistake("rank = 3\n"), "node.toml:1: there is no setting 'rank'; the nearest is 'node.rank'");
}

TEST_F(SettingsLoader, WithoutAKeyOnlyOnThisHostOrExpressly) {
  const std::string open_to_all = kThree + "[node]\nrank = 1\n";
  EXPECT_EQ(mistake(open_to_all),
            "default: security.key_file is not set, but others could reach this daemon on 0.0.0.0:7118; make a key by "
            "`fibocast key generate FILE` and give all daemons that file by --key-file FILE, or let everybody in by "
            "--insecure");
  EXPECT_EQ(mistake(open_to_all, {}, {{"security.key_file", "key"}}), "no mistake");
  EXPECT_EQ(mistake(open_to_all, {}, {{"security.mode", "insecure"}}), "no mistake");
  for (const char* here : {"127.0.0.1:7118", "[::1]:7118", "localhost:7118", "127.9.9.9:1"})
    EXPECT_EQ(mistake(open_to_all, {}, {{"node.listen", here}}), "no mistake") << here;
  for (const char* there : {"10.0.0.1:7118", "[::]:7118", "0.0.0.0:7118", "n1:7118"})
    EXPECT_NE(mistake(open_to_all, {}, {{"node.listen", there}}), "no mistake") << there;
}

TEST_F(SettingsLoader, ModesThatContradictTheKeyAreMistakes) {
  EXPECT_EQ(mistake("[security]\nmode = \"insecure\"\nkey_file = \"key\"\n"),
            "node.toml:2: security.mode is insecure, but security.key_file is given; leave one of them out");
  EXPECT_EQ(mistake("[security]\nmode = \"integrity\"\n"),
            "node.toml:2: security.mode is integrity, which needs a key; give security.key_file");
}

TEST_F(SettingsLoader, AFileThatIsNoTomlSaysWhere) {
  EXPECT_TRUE(mistake("[node]\nrank = = 3\n").starts_with("node.toml:2: ")) << mistake("[node]\nrank = = 3\n");
}

TEST_F(SettingsLoader, AMissingFileIsNamed) {
  try {
    load_settings(folder_ / "none.toml", [](const char*) -> const char* { return nullptr; }, {});
    FAIL();
  } catch (const SettingsError& error) {
    EXPECT_NE(std::string(error.what()).find("none.toml"), std::string::npos) << error.what();
  }
}

TEST_F(SettingsLoader, WhatIsPrintedCanBeReadAgain) {
  const auto loaded = load(kThree + "[node]\nrank = 1\nsocket = 'a\\b\"c'\n[security]\nkey_file = \"/etc/key\"\n",
                           {{"FIBOCAST_EMULATION_SCALE", "0.1"}}, {{"log.level", "error"}});
  const std::string printed = print_settings(loaded);
  EXPECT_NE(printed.find("rank = 1"), std::string::npos) << printed;
  EXPECT_NE(printed.find("# flag --log.level"), std::string::npos) << printed;
  EXPECT_NE(printed.find("# environment FIBOCAST_EMULATION_SCALE"), std::string::npos) << printed;
  const auto again = load(printed);
  for (const SettingField& field : setting_fields())
    EXPECT_EQ(field.print(again.settings), field.print(loaded.settings)) << field.key;
}

TEST_F(SettingsLoader, WhatIsPrintedWhileTheRankIsUnknownCanBeReadAgain) {
  const auto loaded = load("[node]\ndiscover = \"dns:node\"\nexpect = 19\nstate = \"/var/lib/fibocast\"\n");
  const auto again = load(print_settings(loaded));
  EXPECT_EQ(again.settings.node.discover, "dns:node");
  EXPECT_EQ(again.settings.node.expect, 19u);
}

}  // namespace
}  // namespace fibocast
