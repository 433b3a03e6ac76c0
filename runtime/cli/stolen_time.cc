#include "runtime/cli/stolen_time.h"

#include <unistd.h>

#include <fstream>
#include <string>

namespace fibocast {

// The first line of /proc/stat: "cpu user nice system idle iowait irq softirq steal ..." in clock ticks (proc(5)).
double stolen_seconds() {
  std::ifstream file("/proc/stat");
  std::string name;
  double ticks = 0;
  file >> name;
  for (int column = 1; column <= 8; ++column)
    if (!(file >> ticks)) return 0;
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace fibocast
