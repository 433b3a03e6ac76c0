// A participant that is to be killed: joins the direct group of its daemon's cluster, stops itself, and then makes
// barriers until one fails. Its parent traces it: see direct_kill_test.cc.
//
//   direct_victim SOCKET LOCAL
#include <signal.h>
#include <sys/ptrace.h>

#include <cstdio>

#include "runtime/client/client.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto client = fibocast::Client::connect(argv[1]);
  if (!client.ok()) return std::puts(client.status().sentence.c_str()), 3;
  auto group = (*client)->open_direct("all", {.deadline = std::chrono::minutes(1), .local = argv[2]});
  if (!group.ok()) return std::puts(group.status().sentence.c_str()), 4;
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return std::perror("ptrace"), 5;
  raise(SIGSTOP);
  while (group->barrier(std::chrono::minutes(1)).ok()) continue;
  return 6;
}
