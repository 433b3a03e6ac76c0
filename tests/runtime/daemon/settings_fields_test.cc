#include "runtime/daemon/settings_fields.h"

#include <gtest/gtest.h>

#include <set>

namespace fibocast {
namespace {

TEST(SettingsFields, EachHasItsOwnNamesAndAHelp) {
  std::set<std::string> names;
  for (const SettingField& field : setting_fields()) {
    EXPECT_TRUE(names.insert(field.key).second) << field.key;
    if (!field.short_flag.empty()) {
      EXPECT_TRUE(names.insert(field.short_flag).second) << field.short_flag;
    }
    EXPECT_FALSE(field.help.empty()) << field.key;
    EXPECT_FALSE(field.allowed.empty()) << field.key;
  }
}

TEST(SettingsFields, EnvironmentNames) {
  EXPECT_EQ(find_setting("node.rank")->environment(), "FIBOCAST_NODE_RANK");
  EXPECT_EQ(find_setting("operations.default_deadline_ms")->environment(), "FIBOCAST_OPERATIONS_DEFAULT_DEADLINE_MS");
}

TEST(SettingsFields, AListMayHaveSpaces) {
  Settings settings;
  ASSERT_TRUE(find_setting("cluster.nodes")->set(settings, "a:1, b:2"));
  EXPECT_EQ(settings.cluster.nodes, (std::vector<std::string>{"a:1", "b:2"}));
}

TEST(SettingsFields, NumbersAreWhole) {
  Settings settings;
  for (const char* text : {"", "1x", "1.5", " 1", "0x1", "99999999999999999999"})
    EXPECT_FALSE(find_setting("model.s_ns")->set(settings, text)) << text;
  EXPECT_FALSE(find_setting("emulation.scale")->set(settings, "nan"));
}

TEST(SettingsFields, TheNearestName) {
  EXPECT_EQ(nearest_setting("cluster.node"), "cluster.nodes");
  EXPECT_EQ(nearest_setting("limit.payload_byte"), "limits.payload_bytes");
}

}  // namespace
}  // namespace fibocast
