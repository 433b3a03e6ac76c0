// The sockets of this process that programs it starts would inherit.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <string>

namespace fibocast {

inline std::set<int> inheritable_sockets() {
  std::set<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename());
    const int flags = fcntl(descriptor, F_GETFD);
    struct stat info;
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0 && fstat(descriptor, &info) == 0 && S_ISSOCK(info.st_mode))
      found.insert(descriptor);
  }
  return found;
}

}  // namespace fibocast
