#include "runtime/daemon/cores.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace fibocast::cores {
namespace {

// None if it cannot be told.
cpu_set_t allowed_here() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_ZERO(&allowed);
  return allowed;
}

void move(const cpu_set_t& to, const cpu_set_t& allowed) {
  if (CPU_COUNT(&to) > 0 && sched_setaffinity(0, sizeof to, &to) == 0) sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace

unsigned count() { return std::max(1U, std::thread::hardware_concurrency()); }

void move_to_another() {
  const cpu_set_t allowed = allowed_here();
  cpu_set_t others = allowed;
  CPU_CLR(sched_getcpu(), &others);
  move(others, allowed);
}

bool move_to(unsigned index) {
  const cpu_set_t allowed = allowed_here();
  const auto number = static_cast<unsigned>(CPU_COUNT(&allowed));
  if (number == 0) return false;
  int core = 0;
  for (unsigned before = index % number; !CPU_ISSET(core, &allowed) || before-- > 0;) ++core;
  if (core == sched_getcpu()) return false;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  move(one, allowed);
  return true;
}

}  // namespace fibocast::cores
