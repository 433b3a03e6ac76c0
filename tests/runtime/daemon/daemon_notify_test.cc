// fibocastd as a service of Type=notify: when it says that it is ready, reloads and stops.
#include <sys/wait.h>

#include <csignal>

#include "tests/runtime/daemon/cluster_fixture.h"
#include "tests/runtime/daemon/notify_socket.h"

namespace fibocast {
namespace {

class DaemonNotify : public ClusterTest {
 protected:
  pid_t spawn_notifying(const std::string& manager) {
    const std::string address = free_address();
    const pid_t pid = fork();
    if (pid != 0) return pid;
    setenv("NOTIFY_SOCKET", manager.c_str(), 1);
    execl(FIBOCAST_DAEMON, FIBOCAST_DAEMON, "--nodes", address.c_str(), "--socket", path_.c_str(), "--log", "off",
          nullptr);
    _exit(127);
  }

  std::string path_ = folder_ / "d.sock";
};

TEST_F(DaemonNotify, ReadyThenReloadingThenStopping) {
  const std::string name = folder_ / "notify";
  NotifySocket manager(name);
  ASSERT_TRUE(manager.bound());
  const pid_t pid = spawn_notifying(name);
  EXPECT_TRUE(manager.heard().starts_with("READY=1\n"));
  RawClient client(path_);  // no sooner than applications are served
  EXPECT_EQ(client.barrier("gate").status().code(), client::CODE_OK);
  kill(pid, SIGHUP);
  EXPECT_TRUE(manager.heard().starts_with("RELOADING=1\n"));
  EXPECT_TRUE(manager.heard().starts_with("READY=1\n"));
  kill(pid, SIGTERM);
  EXPECT_TRUE(manager.heard().starts_with("STOPPING=1\n"));
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace fibocast
