// The costs of a type of workstation from two measurements on an identical pair (Banikazemi et al. 1999, C5).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fibocast {

// Times in any one unit, that of the answer.
struct WorkstationMeasurement {
  std::vector<double> bytes;       // ascending, the first is 0
  std::vector<double> round_trip;  // of a ping-pong with that many bytes
  std::vector<double> sends;       // what `send_count` sends one after the other took the sender
  double send_count = 1;
  double link_latency = 0;  // X_c, X_m: known from the network's data sheet
  double link_per_byte = 0;
};

struct ExtractedWorkstation {
  double send = 0;           // S_c
  double send_per_byte = 0;  // S_m, slope of the least-squares line
  double receive = 0;        // R_c without the wire: corrected, unbiased
  double receive_paper = 0;  // R_c by the paper's equation 5, with X_c in it
  double receive_per_byte = 0;
};

// Nothing, and a sentence in `error`, for lists of different lengths, less than two sizes or a first size other than 0.
std::optional<ExtractedWorkstation> extract_workstation(const WorkstationMeasurement& measured, std::string& error);

}  // namespace fibocast
