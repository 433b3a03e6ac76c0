#include "runtime/wire/rank_text.h"

#include <cstdio>

namespace fibocast {

std::string rank_text(const RankSet& ranks) {
  if (ranks.empty()) return "none";
  std::string text;
  for (std::uint32_t i = 0; i < ranks.runs(); ++i) {
    const RankSet::Run run = ranks.run(i);
    if (i > 0) text += ", ";
    text += std::to_string(run.first);
    if (run.count > 1) text += (run.count == 2 ? ", " : "-") + std::to_string(run.first + run.count - 1);
  }
  if (ranks.truncated()) text += ", ...";
  return text;
}

std::string duration_text(Nanoseconds duration) {
  struct Unit {
    Nanoseconds size;
    const char* name;
  };
  for (const Unit unit : {Unit{1'000'000'000, "s"}, Unit{1'000'000, "ms"}, Unit{1'000, "us"}, Unit{1, "ns"}}) {
    if (duration < unit.size && unit.size > 1) continue;
    // To a thousandth of the unit.
    const Nanoseconds parts = unit.size > 1 ? 1000 : 1;
    const Nanoseconds counted = duration / (unit.size / parts);
    const double value = static_cast<double>(counted) / static_cast<double>(parts);
    char text[48];
    std::snprintf(text, sizeof text, "%.15g %s", value, unit.name);
    return text;
  }
  return {};
}

}  // namespace fibocast
