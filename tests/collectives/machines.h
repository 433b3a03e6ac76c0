// The machine of Cordsen et al. 1997 and its kinds of ports: what many tests of schedules and predictions ask about.
#pragma once

#include "collectives/cost_model.h"
#include "collectives/plan.h"

namespace fibocast::test {

inline constexpr Ports kBothPorts[] = {Ports::kShared, Ports::kIndependent};

// MANNA (A26), in microseconds; and the trees that are best on it.
inline constexpr CostModel kManna{.send = 27, .latency = 0, .occupancy = 88};
inline constexpr Plan kMannaPlan{.reduction = {.s = 88, .r = 27}, .distribution = {.s = 27, .r = 88}};

}  // namespace fibocast::test
