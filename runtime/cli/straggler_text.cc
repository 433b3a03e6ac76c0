#include "runtime/cli/straggler_text.h"

#include <iomanip>
#include <sstream>

#include "runtime/wire/rank_text.h"

namespace fibocast {

std::string straggler_sentence(const Straggler& straggler) {
  if (straggler.rank == kNoRank) return "who came last is not known";
  return "rank " + std::to_string(straggler.rank) + " came last, " + duration_text(straggler.late_by) +
         " after the others";
}

std::string slowest_text(const GroupInfo& group) {
  if (group.slowest.empty()) return "";
  std::ostringstream out;
  out << "\nslowest ranks of group '" << group.name << "'\nrank   came last    in total     at most\n";
  for (const SlowRank& row : group.slowest)
    out << std::setw(4) << row.rank << ' ' << std::setw(5) << row.times << " times" << std::setw(12)
        << duration_text(row.total) << std::setw(12) << duration_text(row.largest) << "\n";
  return out.str();
}

Json to_json(const Straggler& straggler) { return {{"rank", straggler.rank}, {"late_ns", straggler.late_by}}; }

Json to_json(const SlowRank& row) {
  return {{"rank", row.rank},
          {"times", row.times},
          {"total_late_ns", row.total},
          {"largest_late_ns", row.largest},
          {"unseen_late_ns", row.unseen}};
}

}  // namespace fibocast
