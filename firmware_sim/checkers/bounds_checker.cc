#include "firmware_sim/checkers/checkers.h"

namespace fibocast {

Findings check_bounds(const History& history) {
  Findings findings;
  for (std::size_t i = 0; i < history.ends.size(); ++i) {
    const NodeEnd& end = history.ends[i];
    const std::string node = "node " + std::to_string(i) + " held ";
    if (end.most_payload_bytes > history.payload_bytes_limit)
      findings.push_back(node + std::to_string(end.most_payload_bytes) + " payload bytes: its limit is " +
                         std::to_string(history.payload_bytes_limit));
    if (end.most_large_bytes > history.large_bytes_limit)
      findings.push_back(node + std::to_string(end.most_large_bytes) + " bytes in large buffers: its limit is " +
                         std::to_string(history.large_bytes_limit));
    if (end.most_buffers > history.buffers_limit)
      findings.push_back(node + std::to_string(end.most_buffers) + " buffers: its limit is " +
                         std::to_string(history.buffers_limit));
  }
  return findings;
}

}  // namespace fibocast
