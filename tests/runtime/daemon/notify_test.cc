#include "runtime/daemon/notify.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/runtime/daemon/notify_socket.h"

namespace fibocast {
namespace {

std::string own_name() { return "fibocast-notify-" + std::to_string(getpid()); }

TEST(Notify, ReachesASocketWithAPath) {
  const std::string path = std::filesystem::temp_directory_path() / own_name();
  NotifySocket manager(path);
  ASSERT_TRUE(manager.bound());
  EXPECT_TRUE(notify(path.c_str(), "READY=1\n"));
  EXPECT_EQ(manager.heard(), "READY=1\n");
}

TEST(Notify, ReachesAnAbstractSocket) {
  const std::string name = "@" + own_name();
  NotifySocket manager(name);
  ASSERT_TRUE(manager.bound());
  EXPECT_TRUE(notify(name.c_str(), "STOPPING=1\n"));
  EXPECT_EQ(manager.heard(), "STOPPING=1\n");
}

TEST(Notify, WithoutAListenerNothingIsSent) {
  EXPECT_FALSE(notify(nullptr, "READY=1\n"));
  EXPECT_FALSE(notify("", "READY=1\n"));
  EXPECT_FALSE(notify("@", "READY=1\n"));
  EXPECT_FALSE(notify("relative", "READY=1\n"));
  EXPECT_FALSE(notify(("/" + std::string(107, 'x')).c_str(), "READY=1\n"));  // longer than an address can be
  EXPECT_FALSE(notify(("@" + own_name()).c_str(), "READY=1\n"));
}

TEST(Notify, SaysWhatTheManagerWaitsFor) {
  const std::string name = "@" + own_name();
  NotifySocket manager(name);
  setenv("NOTIFY_SOCKET", name.c_str(), 1);
  notify_ready();
  notify_reloading();
  notify_stopping();
  unsetenv("NOTIFY_SOCKET");
  EXPECT_TRUE(manager.heard().starts_with("READY=1\n"));
  EXPECT_TRUE(manager.heard().starts_with("RELOADING=1\nMONOTONIC_USEC="));
  EXPECT_TRUE(manager.heard().starts_with("STOPPING=1\n"));
}

}  // namespace
}  // namespace fibocast
