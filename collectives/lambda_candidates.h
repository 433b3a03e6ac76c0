// Trees for messages that are more than tokens. What a byte costs is part of s and r (Cordsen et al. 1997, A2), so that
// each size of message has a lambda of its own, while a plan has one pair of trees. Between 1 KiB and 1 MiB trees of
// that lambda are up to 1.4 times faster by the model. For tools, not the core.
#pragma once

#include <cstdint>
#include <set>

#include "collectives/cost_model.h"

namespace fibocast {

// Of planned_lambdas() the nearest ones to those that are best for messages of so many bytes down and up the trees of
// the operation: multicast down, reduce up, allreduce both. None where they are the nearest ones of tokens, for which
// fibo_plan() has the trees, where a message costs hardly more than a token, and for other operations.
std::set<std::uint16_t> lambda_candidates(const CostModel& model, Operation operation, std::uint64_t bytes);

}  // namespace fibocast
