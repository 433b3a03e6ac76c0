// While one lives, this process can open and accept nothing: as a process that has as much open as it may.
#pragma once

#include <sys/resource.h>

#include <boost/asio/io_context.hpp>

namespace fibocast {

class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

// Whether nothing is ready any more after some handlers: who tries the same again and again never rests.
inline bool comes_to_rest(boost::asio::io_context& io) {
  for (int handlers = 0; handlers < 100; ++handlers)
    if (io.poll_one() == 0) return true;
  return false;
}

}  // namespace fibocast
