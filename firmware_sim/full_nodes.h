// The same question to whole nodes: channels, credit, handshakes and all, on the emulated card's ports and a modelled
// network. What it adds to the engine alone is free by design, so both must give the same times.
#pragma once

#include <optional>
#include <string>

#include "collectives/plan.h"
#include "firmware_sim/multicomputer.h"

namespace fibocast {

inline constexpr Rank kMostFullNodes = 10'000;
// Said of networks that keep a message on the way.
inline constexpr const char* kNotAtOnce = "whole nodes run on networks that answer at once: not on this one";

struct FullNodesQuestion {
  Plan plan;
  OperationShape shape;  // with its choice
  NodeTable nodes;       // by virtual rank
  std::vector<NodeId> node_of;
  Rank root = 0;
};

// In ticks. Messages that depart in one instant enter the network in the order in which the nodes came to send them,
// not by source: where they contend, times may differ from simulate_machine()'s. Nothing, and a sentence in `error`,
// for more than kMostFullNodes or full_node_limits(), networks that do not answer at once or delay the sender, or an
// operation that fails.
std::optional<SimulationRun> simulate_full_nodes(const FullNodesQuestion& question, Network& network,
                                                 std::string& error);

// False, and a sentence in `error`, for more than `most` ranks, or a network that delays the sender.
bool suits_full_nodes(const FullNodesQuestion& question, Rank most, const Network& network, std::string& error);

}  // namespace fibocast
