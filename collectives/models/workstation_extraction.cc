#include "collectives/models/workstation_extraction.h"

#include <algorithm>

namespace fibocast {
namespace {

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double slope(const std::vector<double>& x, const std::vector<double>& y) {
  const double x_mean = mean(x);
  const double y_mean = mean(y);
  double xy = 0;
  double xx = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - x_mean) * (y[i] - y_mean);
    xx += (x[i] - x_mean) * (x[i] - x_mean);
  }
  return xy / xx;
}

bool is_usable(const WorkstationMeasurement& m) {
  const std::size_t sizes = m.bytes.size();
  if (sizes < 2 || m.round_trip.size() != sizes || m.sends.size() != sizes || !(m.send_count > 0)) return false;
  return m.bytes[0] == 0 && std::ranges::adjacent_find(m.bytes, std::ranges::greater_equal()) == m.bytes.end();
}

}  // namespace

std::optional<ExtractedWorkstation> extract_workstation(const WorkstationMeasurement& measured, std::string& error) {
  if (!is_usable(measured)) {
    error =
        "a measurement has at least two sizes, ascending from 0 bytes, and for each a round trip and a time of sends";
    return {};
  }
  ExtractedWorkstation result;
  result.send = measured.sends[0] / measured.send_count;
  result.send_per_byte = slope(measured.bytes, measured.sends) / measured.send_count;
  result.receive_paper = measured.round_trip[0] / 2 - result.send;
  result.receive = result.receive_paper - measured.link_latency;
  // What is left of T_ptp(m) is R_m m: a line through 0.
  double xy = 0;
  double xx = 0;
  for (std::size_t i = 1; i < measured.bytes.size(); ++i) {
    const double m = measured.bytes[i];
    const double rest =
        measured.round_trip[i] / 2 - measured.round_trip[0] / 2 - (result.send_per_byte + measured.link_per_byte) * m;
    xy += m * rest;
    xx += m * m;
  }
  result.receive_per_byte = xy / xx;
  return result;
}

}  // namespace fibocast
