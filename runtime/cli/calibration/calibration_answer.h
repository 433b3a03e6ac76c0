// What `fibocast calibrate` says: for people, as JSON, and as the file that daemons and `fibocast plan` read.
#pragma once

#include "runtime/cli/calibration/calibration.h"
#include "runtime/cli/command.h"

namespace fibocast {

// An operation that was not measured before: what the model says of it, and what it takes.
struct ModelCheck {
  std::string operation;
  Rank ranks = 0;
  double predicted = 0, measured = 0;  // ns of the machine
  double error() const { return measured / predicted - 1; }
};

struct CalibrationReport {
  Calibration calibration;
  std::vector<ModelCheck> checks;
  double seconds = 0;
  double scale = 1;
  Nanoseconds clock_bound = 0;  // the largest error of a time of another host
  std::uint32_t repetitions = 0;
};

Json to_json(const CalibrationReport& report);
void print_text(const CalibrationReport& report);
// A settings file with [model] alone.
std::string model_file(const CalibrationReport& report);

}  // namespace fibocast
