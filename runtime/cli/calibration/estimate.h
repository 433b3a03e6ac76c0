// Robust statistics of repeated measurements: medians and lines through medians, with intervals from resampling
// (the bootstrap, Efron 1979), so that neither needs to know how the noise of a host is distributed.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace fibocast {

struct Estimate {
  double value = 0;
  double low = 0, high = 0;  // 95 %
};

using Sample = std::vector<double>;
using Statistic = std::function<double(std::span<const Sample>)>;

// Precondition: not empty.
double median(Sample values);
// The mean of the middle half: what is far off counts no more than in a median, and what is not scatters less.
// Precondition: not empty.
double middle_mean(Sample values);
// The same repetitions drawn again with replacement, 300 times: where 95 % of the statistic's values lie.
// Deterministic. Precondition: no sample is empty.
Estimate estimate(std::span<const Sample> samples, const Statistic& statistic);
// The same of several values that come of one computation, drawn so many times.
std::vector<Estimate> estimates(std::span<const Sample> samples,
                                const std::function<std::vector<double>(std::span<const Sample>)>& statistics,
                                int resamples);
Estimate median_estimate(const Sample& sample);
// Values further from the median than five scaled deviations (MAD): they do not move a median, but are worth telling.
std::size_t outliers(const Sample& sample);

struct Line {
  double slope = 0, intercept = 0;
};
// Through the medians of samples at x: the median of all slopes between two of them (Theil 1950, Sen 1968).
// Precondition: at least two different x.
Line line_through(std::span<const double> x, std::span<const Sample> samples);

}  // namespace fibocast
