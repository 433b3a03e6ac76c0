// One operation on whole nodes of a modelled machine while things go wrong: what each rank is told, and when. A failure
// is an answer here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/rational.h"
#include "firmware_sim/fault.h"
#include "firmware_sim/full_nodes.h"
#include "firmware_sim/virtual_network.h"

namespace fibocast {

// All of them are connected to all others.
inline constexpr Rank kMostTroubledNodes = 256;
// Of every rank's call.
inline constexpr Nanoseconds kTroubledDeadline = 10'000'000'000;

// What goes wrong. Times count from the operation's start, nodes are real ranks.
struct Troubles {
  std::vector<Fault> faults;
  std::uint64_t seed = 1;  // of their dice
};

// Times from the operation's start.
struct TroubledRank {
  Verdict verdict = Verdict::kPending;  // kPending: it crashed, or was not heard of again
  Nanoseconds answered = 0;             // unless kPending
  Nanoseconds activated = 0;            // if kOk
  std::vector<Rank> missing;            // real ranks that the verdict names
};

struct TroubledRun {
  std::vector<TroubledRank> ranks;  // by real rank, those that take part
  std::uint64_t messages = 0;       // of the operation, that reached their node
  std::uint64_t bytes = 0;
  NetworkCounters datagrams;  // from the operation's start on
  std::uint64_t events = 0;
};

// `tick`: in nanoseconds. Nodes have found each other before the operation starts; they have the product's own times to
// resend and to suspect. A rank whose node crashes and comes back calls again, unless it has its answer. A message that
// was lost is sent again without a charge, as on the emulated card. Ends when every rank that may still answer has, or
// a minute after the deadline and the last fault. Precondition: no objection() to the faults.
// Nothing, and a sentence in `error`, for more than kMostTroubledNodes, and as simulate_full_nodes().
std::optional<TroubledRun> simulate_troubled_nodes(const FullNodesQuestion& question, const Rational& tick,
                                                   const Troubles& troubles, Network& network, std::string& error);

}  // namespace fibocast
