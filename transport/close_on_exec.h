// A socket that Boost.Asio opens or accepts is inherited by every program that this process starts. There it would keep
// a port in use, and hide from the other end that this process has ended.
#pragma once

#include <fcntl.h>

namespace fibocast {

// Right after it was opened or accepted. -1, which is none, does no harm.
inline void close_on_exec(int socket) { fcntl(socket, F_SETFD, FD_CLOEXEC); }

}  // namespace fibocast
