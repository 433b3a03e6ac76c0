// A participant that is to be killed: joins the direct group of its daemon's cluster, stops itself, and then makes
// barriers until one fails, with multicasts to it and from it before each or not. Its parent traces it: see
// direct_kill_test.cc.
//
//   direct_victim SOCKET LOCAL barrier|data
#include <signal.h>
#include <sys/ptrace.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "runtime/client/client.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  auto client = fibocast::Client::connect(argv[1]);
  if (!client.ok()) return std::puts(client.status().sentence.c_str()), 3;
  auto group = (*client)->open_direct("all", {.deadline = std::chrono::minutes(1), .local = argv[2]});
  if (!group.ok()) return std::puts(group.status().sentence.c_str()), 4;
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return std::perror("ptrace"), 5;
  raise(SIGSTOP);
  const bool data = argv[3] == std::string_view("data");
  std::vector<std::byte> bytes(20'000);
  do {
    for (fibocast::Rank root = 0; data && root < 2; ++root) {
      std::ranges::fill(bytes, static_cast<std::byte>(root + 1));
      if (!group->multicast_into(root, bytes, std::chrono::minutes(1)).ok()) return 7;
    }
  } while (group->barrier(std::chrono::minutes(1)).ok());
  return 6;
}
