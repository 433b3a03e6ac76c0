// What the examples in C++ have in common: how they find their group and how they end. They may throw.
#pragma once

#include <cstdlib>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>

#include "runtime/client/client.h"

namespace fibocast::example {

inline constexpr auto kDeadline = std::chrono::seconds(30);  // of every call: who is missing then is named

// The sentence of a call that failed ends the program.
inline void check(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.sentence);
}
inline Outcome checked(Outcome outcome) {
  check(outcome.status);
  return outcome;
}

// `work` with this node's client and the group of all nodes; the exit code of the program.
inline int run(const std::string& program, const std::function<void(Client& client, Group& group)>& work) {
  try {
    auto client = Client::connect();
    check(client.status());
    auto group = client.value()->open("all");
    check(group.status());
    const char* size = std::getenv("FIBOCAST_SIZE");
    if (size != nullptr && size != std::to_string(group->size()))
      throw std::runtime_error("run one process for each of the " + std::to_string(group->size()) +
                               " daemons: fibocast run without -n");
    work(**client, *group);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << program << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace fibocast::example
