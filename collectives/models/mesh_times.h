// How long divide and conquer takes on a mesh, and by how much that exceeds a machine in which every message has its
// own link (Lo et al. 1992, D8 to D16). For tools, not the core.
#pragma once

#include <cstdint>

#include "collectives/models/mesh.h"
#include "collectives/rational.h"

namespace fibocast {

// All templates here exist for Rational, which is exact and throws std::overflow_error when a number does not fit in
// 64 bit, and for double, which has no such limit (and is needed for alpha = 1 / sqrt 2).

// The numbers of 1, 1, 3, 5, 11, 21, ..: J(k) = (2^k - (-1)^k) / 3 (D8). Precondition: k >= 1.
template <typename Number>
Number jacobsthal(unsigned k);

// Length and contention of EVERY edge of a phase, in links and in other messages (D8, D9): the closed form of what
// measure_mesh_phases finds. Precondition: 1 <= phase <= order.
template <typename Number>
struct MeshPhaseShape {
  Number dilation;
  Number interference;
};
template <typename Number>
MeshPhaseShape<Number> mesh_phase_shape(MeshMapping mapping, unsigned order, unsigned phase);

// Sums over the phases of weight alpha^i times the phase's length, for large messages and a transfer time of 1 per
// unit of weight (D11). The contention terms are the paper's bound: what a phase needs at most. With alpha = 1 these
// are the times of small messages. Precondition: 0 < alpha <= 1.
template <typename Number>
struct MeshTotals {
  Number store_and_forward{0};  // D + C each phase
  Number wormhole{0};           // 1 + C
  Number perfect{0};            // 1
  Number lockstep{0};           // D: what store-and-forward does take when all links work in step (D10b)
  // Against the perfect machine; 1 for the tree of one node, which sends nothing (D18).
  Number slowdown_store_and_forward() const { return perfect == Number(0) ? Number(1) : store_and_forward / perfect; }
  Number slowdown_wormhole() const { return perfect == Number(0) ? Number(1) : wormhole / perfect; }
};
template <typename Number>
MeshTotals<Number> mesh_totals(MeshMapping mapping, unsigned order, const Number& alpha);

// One phase with a start-up of c and b per unit of volume and link (D10): store-and-forward pays per link of the path,
// wormhole once and h per link for the header.
Rational store_and_forward_time(const Rational& c, const Rational& b, const Rational& weight, std::uint64_t links);
Rational wormhole_time(const Rational& c, const Rational& b, const Rational& weight, std::uint64_t links,
                       const Rational& h);

// The same totals for even orders n = 2k without a sum: D12 and D13 with the errata. Precondition: 0 < alpha <= 1.
template <typename Number>
Number reflecting_total(unsigned k, const Number& alpha);
template <typename Number>
Number growing_total(unsigned k, const Number& alpha);

// Where the growing mapping beats the reflecting one, n = 2k, k <= k_max (D15 ii): 0 = nowhere.
struct MeshCrossover {
  unsigned first_win = 0;
  unsigned last_loss = 0;
};
MeshCrossover mesh_crossover(double alpha, unsigned k_max);

}  // namespace fibocast
