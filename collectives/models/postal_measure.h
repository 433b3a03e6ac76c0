// The two experiments that measure t0 and lambda (Bruck et al. 1996, section 2.6: B16, B17): what they take in the
// model, and back from times to the parameters by a straight line; and the machine of the paper, as far as it can be
// reconstructed (B18). For tools, not the core.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "collectives/rational.h"

namespace fibocast {

enum class PostalExperiment : std::uint8_t {
  kOneWay = 1,    // P0 sends to P1 .. Pk, Pk answers: t0 (k - 1 + 2 lambda)
  kThereAndBack,  // then Pk sends to P(k-1) .. P0 instead: 2 t0 (k - 1 + lambda)
};

// The time of an experiment with k receivers, in the unit of t0. Throws std::overflow_error. Preconditions: k >= 1,
// lambda >= 1.
Rational experiment_time(PostalExperiment experiment, std::uint64_t k, const Rational& t0, const Rational& lambda);

struct ExperimentPoint {
  std::uint64_t k = 1;
  double time = 0;
};

struct PostalFit {
  double t0 = 0;  // in the unit of the times
  double lambda = 0;
};

// The least squares line of time over k - 1: kOneWay has slope t0 and intercept 2 lambda t0, kThereAndBack 2 t0 and
// 2 lambda t0. Nothing, and a sentence, with less than two different k or a slope that is not positive.
std::optional<PostalFit> fit_experiment(PostalExperiment experiment, std::span<const ExperimentPoint> points,
                                        std::string& error);

// The machine `delta` at one size of message, reconstructed: the paper's curves (Figs. 3-5) are lost.
struct DeltaCost {
  Rational t0;          // send time, in units of the time per byte
  Rational difference;  // receive time - send time
  Rational lambda() const { return Rational(1) + difference / t0; }
};

// From 512 bytes (the packet) on t0 = 546 + bytes and a constant difference of 846, so that lambda is 1.8 at 512 bytes
// and 1.05 at 16384; below, the difference falls linearly to what makes lambda 1.2 at 0 bytes. Throws
// std::overflow_error for sizes near 2^63.
DeltaCost delta_cost(std::uint64_t bytes);

}  // namespace fibocast
