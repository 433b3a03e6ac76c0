#include "runtime/daemon/program.h"

#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>

#include "runtime/daemon/command_line.h"
#include "runtime/daemon/daemon.h"
#include "runtime/daemon/notify.h"

namespace fibocast {
namespace {

void reload(Daemon& daemon, const CommandLine& line) {
  notify_reloading();
  try {
    daemon.reload(load_settings(line.file, getenv, line.flags).settings);
  } catch (const SettingsError& error) {
    daemon.log().error(std::string("nothing is reloaded: ") + error.what());
  }
  notify_ready();
}

int serve(const CommandLine& line) {
  Settings settings = line.loaded.settings;
  std::optional<DiscoveryStore> store;
  if (is_to_discover(settings)) discover(settings, store.emplace(settings.node.state));
  Daemon daemon(settings, store ? &*store : nullptr);
  boost::asio::signal_set signals(daemon.context(), SIGTERM, SIGINT, SIGHUP);
  std::function<void()> next_signal = [&] {
    signals.async_wait([&](const boost::system::error_code& error, int signal) {
      if (error) return;
      if (signal == SIGHUP)
        reload(daemon, line);
      else
        daemon.stop();
      next_signal();
    });
  };
  next_signal();
  boost::asio::post(daemon.context(), notify_ready);  // done first in run(), when all sockets are open
  return daemon.run() ? 0 : 1;
}

}  // namespace

int run_daemon_program(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGTERM, [](int) { _exit(0); });  // until the daemon has something to clean up
  try {
    const CommandLine line = read_command_line(argc, argv, getenv);
    if (!line.exit_code) return serve(line);
    std::FILE* const out = *line.exit_code == 0 ? stdout : stderr;
    if (std::fputs(line.output.c_str(), out) >= 0 && std::fflush(out) == 0) return *line.exit_code;
    std::fprintf(stderr, "fibocastd: cannot write to standard output: %s\n", std::strerror(errno));
    return *line.exit_code == 0 ? 1 : *line.exit_code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fibocastd: %s\n", error.what());
    return 2;
  }
}

}  // namespace fibocast
