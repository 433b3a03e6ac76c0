#include "firmware_sim/simulate/timeline.h"

#include <algorithm>
#include <vector>

namespace fibocast {
namespace {

constexpr Rank kMostLines = 256;

char both(char before, char now) {
  return before == 's' || before == 'r' || before == 'b' ? (before == now ? now : 'b') : now;
}

}  // namespace

std::string timeline_text(const Experiment& experiment, const SimulationRun& run, std::size_t width) {
  Ticks end = run.completion;
  for (const PortUse& use : run.port_uses) end = std::max(end, use.end);
  const Ticks column = std::max<Ticks>(1, (end + width - 1) / width);
  const Rank lines = std::min(experiment.shape().ranks, kMostLines);
  std::vector<std::string> line(lines, std::string(static_cast<std::size_t>(end / column + 1), ' '));
  for (Rank v = 0; v < experiment.shape().ranks; ++v)
    if (const Rank rank = experiment.real_rank(v); rank < lines)
      std::fill_n(line[rank].begin(), run.active[v] / column, '-');
  for (const PortUse& use : run.port_uses) {
    const Rank rank = experiment.real_rank(use.rank);
    for (Ticks c = use.begin / column; rank < lines && c * column < use.end; ++c)
      line[rank][c] = both(line[rank][c], use.is_send ? 's' : 'r');
  }
  for (Rank v = 0; v < experiment.shape().ranks; ++v)
    if (const Rank rank = experiment.real_rank(v); rank < lines) {
      char& at = line[rank][run.active[v] / column];
      if (at != 's' && at != 'b') at = '*';
    }
  std::string text;
  for (Rank rank = 0; rank < lines; ++rank) {
    const std::string number = std::to_string(rank);
    text.append(number.size() < 5 ? 5 - number.size() : 0, ' ').append(number).append("  ").append(line[rank]);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace fibocast
