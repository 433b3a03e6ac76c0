// What sending a message costs, in the words of the papers: s, r = l + o, lambda, c; and what follows from that
// alone: the growth base, and which trees are best. For tools, not the core.
#pragma once

#include <cstdint>
#include <optional>

#include "collectives/growth.h"
#include "collectives/plan.h"
#include "collectives/rational.h"

namespace fibocast {

// kShared: one processor does a rank's sends and receives. kIndependent: one for each.
enum class Ports : std::uint8_t { kShared, kIndependent };

// Integer costs in one common unit, the tick. A message of b bytes occupies its sender for
// send + b * send_per_byte, then the wire for latency, then its receiver for occupancy + b * occupancy_per_byte (A2,
// A31).
struct CostModel {
  std::uint64_t send = 1;       // s > 0
  std::uint64_t latency = 0;    // l
  std::uint64_t occupancy = 1;  // o
  std::uint64_t send_per_byte = 0;
  std::uint64_t occupancy_per_byte = 0;
  Ports ports = Ports::kShared;
  std::uint64_t wake = 0;  // on a shared host: until a processor runs a node that had to wait, or its application

  std::uint64_t receive() const { return latency + occupancy; }  // r, all that a distribution sees
};

// Nodes on one host: ranks 0 .. nodes - 1 on the first, and so on. Its processors do the sends and receives of all.
struct HostSharing {
  Rank nodes = 1;  // 1: each node has its host for itself, and its ports say what it can do
  std::uint32_t processors = 1;
  // Short messages of a node to several others of its host leave together: the system copies one for all.
  bool fans_out = false;
  bool operator==(const HostSharing&) const = default;
};

// The same costs as they were written, in any unit.
struct ExactCosts {
  Rational send = 1;
  Rational latency = 0;
  Rational occupancy = 1;
  Rational send_per_byte = 0;
  Rational occupancy_per_byte = 0;
  Rational wake = 0;
};

// A model in ticks and what a tick is: time = ticks * tick, in the unit of the exact costs.
struct TickedModel {
  CostModel model;
  Rational tick = 1;
};

// The least common unit of all of them (A4). Throws std::overflow_error if there is none in 64 bit.
TickedModel in_ticks(const ExactCosts& costs, Ports ports = Ports::kShared);

// lambda = 1 + r / s. Precondition: s > 0.
Rational lambda_of(const Rational& s, const Rational& r);
// lambda = a / b in lowest terms as s = b, r = a - b (B1). Nothing for lambda < 1.
std::optional<LatencyRatio> latencies_of_lambda(const Rational& lambda);

// s = t2 - t1, r = 2 t1 - t2 from the activation of a root's first and second receiver (A26). Nothing if s would not be
// positive or r negative.
std::optional<LatencyRatio> extract_latencies(std::uint64_t first, std::uint64_t second);

// x > 1 with x^(s+r) = x^r + 1: f grows like x^t (A9). Precondition: s > 0.
double growth_base(double s, double r);
// a with f(t) / x^t -> a (A9). Nothing if s and r have a common divisor: then the quotient oscillates.
std::optional<double> growth_amplitude(std::uint64_t s, std::uint64_t r);

// The trees that are optimal for token-sized messages: Fibo(s, l + o) down, Fibo(o, s + l) up (A6, A30).
Plan fibo_plan(const CostModel& model);

}  // namespace fibocast
