// What sd_notify(3) does, without libsystemd: tells the service manager that started this program how far it is.
#pragma once

#include <string>

namespace fibocast {

// Sends `state`, lines such as READY=1, as one datagram to the socket `address`; '@' begins an abstract one. False if
// there is no address, or nobody to hear it.
bool notify(const char* address, const std::string& state);

// The same to the manager that $NOTIFY_SOCKET names; nothing happens where none does.
void notify_ready();
void notify_reloading();
void notify_stopping();

}  // namespace fibocast
