// From measurements to the costs of a cluster: for each node, for all of it, and what cannot be told.
#pragma once

#include <string>
#include <vector>

#include "runtime/cli/calibration/measurements.h"
#include "runtime/client/node_model.h"

namespace fibocast {

// Of one node, in ns (PAPERS C1, C5). The network's part cannot be told from the receiver's: only their sum.
struct NodeCosts {
  Estimate send;              // S_c, or s
  Estimate send_per_byte;     // S_m
  Estimate receive;           // R_c + X_c, or r = l + o
  Estimate receive_per_byte;  // R_m + X_m
  Estimate occupancy;         // o: what arrivals queue for
};

// lambda = 1 + r / s by the experiments of Bruck et al. for one size; they are told side by side, not averaged.
struct PostalResult {
  std::uint64_t bytes = 0;
  Estimate one_way, there_and_back;  // lambda
  bool disagree = false;             // their intervals do not meet
};

struct Calibration {
  std::vector<NodeCosts> nodes;
  NodeCosts model;   // the medians of the nodes
  Estimate latency;  // l = r - o
  Estimate lambda;   // by the activations
  std::vector<PostalResult> postal;
  std::vector<std::vector<NodeId>> types;  // nodes of like costs
  std::vector<std::vector<NodeId>> hosts;  // nodes that are near each other
  bool shared_host = false;                // then s, l, o and the bytes are of whole operations, and:
  Estimate wake;                           // a processor needs until a node runs that waited
  std::uint32_t processors = 0;            // that co-located nodes share
  double fit_error = 0;                    // how far these explain the operations: HostFit::error
  std::vector<std::string> unidentified;   // sentences
  std::size_t outliers = 0;
  std::size_t late = 0;
};

// Precondition: measure() has ended well.
Calibration calibrate(const Measurements& taken, const CalibrationPlan& plan, std::uint32_t nodes);
// What daemons plan by.
NodeModel model_of(const Calibration& calibration);

}  // namespace fibocast
