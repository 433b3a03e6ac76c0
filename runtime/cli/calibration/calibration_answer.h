// What `fibocast calibrate` says: for people, as JSON, and as the file that daemons and `fibocast plan` read.
#pragma once

#include "runtime/cli/calibration/calibration.h"
#include "runtime/cli/calibration/candidates.h"
#include "runtime/cli/command.h"

namespace fibocast {

struct CalibrationReport {
  Calibration calibration;
  std::vector<Contest> contests;  // of operations that were not measured before
  double seconds = 0;
  double stolen = 0;  // s of a processor, by other virtual machines of this host
  double scale = 1;
  Nanoseconds clock_bound = 0;  // the largest error of a time of another host
  std::uint32_t repetitions = 0;
};

Json to_json(const CalibrationReport& report);
void print_text(const CalibrationReport& report);
// A settings file with [model] alone.
std::string model_file(const NodeModel& model, std::size_t nodes);

}  // namespace fibocast
