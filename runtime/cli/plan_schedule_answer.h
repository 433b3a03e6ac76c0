// What `fibocast plan schedule` found out, and how it is printed: as text that parse_schedule() reads, or as JSON.
#pragma once

#include <iosfwd>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/schedule.h"
#include "collectives/validate.h"
#include "runtime/cli/plan_costs.h"

namespace fibocast {

struct ScheduleAnswer {
  OperationShape shape;  // its choice is the algorithm that was taken
  std::vector<std::pair<Rank, RankPart>> parts;
  std::optional<Rational> completion;
  bool is_time = false;  // the completion is in nanoseconds
  std::optional<Validation> check;
};

void print_json(const ScheduleAnswer& answer, std::ostream& out);
// What is no schedule are remarks: lines that begin with #.
void print_text(const ScheduleAnswer& answer, std::ostream& out);

}  // namespace fibocast
