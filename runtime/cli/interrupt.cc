#include "runtime/cli/interrupt.h"

#include <csignal>

namespace fibocast {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;
void interrupt(int) { g_interrupted = 1; }

}  // namespace

void catch_interrupts() {
  for (const int number : {SIGINT, SIGTERM})
    if (std::signal(number, interrupt) == SIG_IGN) std::signal(number, SIG_IGN);
}

bool is_interrupted() { return g_interrupted != 0; }

}  // namespace fibocast
