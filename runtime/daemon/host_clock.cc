#include "runtime/daemon/host_clock.h"

#include <filesystem>
#include <fstream>

namespace fibocast {

std::string host_clock_id() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code none;  // kernels before 5.6 have no time namespaces
  const std::string space = std::filesystem::read_symlink("/proc/self/ns/time", none).string();
  return boot.empty() ? "" : boot + " " + space;
}

}  // namespace fibocast
