// How long a schedule takes under a cost model: the only owner of predicted times. Closed forms of the papers are tests
// of it. A max-plus evaluation, message by message; the simulator shares no code with it, so that their agreement means
// something. For tools, not the core.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/cost_model.h"
#include "collectives/schedule.h"

namespace fibocast {

// Times in the model's ticks from the start of the operation: all ranks call at 0.
struct Prediction {
  std::vector<std::vector<std::uint64_t>>
      stage_active;                   // [rank][stage]: all its receives are through (last repetition)
  std::vector<std::uint64_t> active;  // per rank: the latest of its stages
  std::uint64_t completion = 0;       // the latest of all: for a multicast the distribution latency
  std::uint32_t rounds = 0;           // messages in the longest chain in which each waits for the one before
};

// Rules: a stage's sends are requested all at its ready time, in order; a port serves requests by the time they were
// made, at equal time receives before sends, then by source rank, then by stage. A send occupies the sender, then the
// wire, then the receiver (CostModel); with shared ports one processor does both. `not_before` counts in ticks. Nothing
// if the schedule never ends or a message is not received: validate() says why.
std::optional<Prediction> predict(const Schedule& schedule, const CostModel& model);

// The same in the time that one rank takes, if all ranks do the same at the same time (`symmetric`): `part`
// stands for each of them, and the Prediction has one rank. Precondition: no stage is repeated.
std::optional<Prediction> predict_symmetric(const RankPart& part, const OperationShape& shape, const CostModel& model);

}  // namespace fibocast
