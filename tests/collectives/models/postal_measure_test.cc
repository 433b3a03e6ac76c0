#include "collectives/models/postal_measure.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

constexpr PostalExperiment kBothExperiments[] = {PostalExperiment::kOneWay, PostalExperiment::kThereAndBack};

TEST(PostalMeasure, B16B17GoldenTimes) {
  for (const auto& entry : test::golden("postal.json", "experiments")) {
    const Rational t0 = test::rational(entry["t0"]);
    const Rational lambda = test::rational(entry["lam"]);
    EXPECT_EQ(experiment_time(PostalExperiment::kOneWay, entry["k"], t0, lambda), test::rational(entry["exp1"]));
    EXPECT_EQ(experiment_time(PostalExperiment::kThereAndBack, entry["k"], t0, lambda), test::rational(entry["exp2"]));
  }
}

TEST(PostalMeasure, B17BothAgreeForOneReceiver) {
  EXPECT_EQ(experiment_time(PostalExperiment::kOneWay, 1, 7, Rational(9, 5)),
            experiment_time(PostalExperiment::kThereAndBack, 1, 7, Rational(9, 5)));
}

TEST(PostalMeasure, B16B17FitFindsWhatWasPutIn) {
  std::string error;
  for (const PostalExperiment experiment : kBothExperiments) {
    std::vector<ExperimentPoint> points;
    for (const std::uint64_t k : {1u, 2u, 4u, 8u, 15u})
      points.push_back({k, experiment_time(experiment, k, 100, Rational(9, 5)).approximately()});
    const PostalFit fit = fit_experiment(experiment, points, error).value();
    EXPECT_NEAR(fit.t0, 100, 1e-9);
    EXPECT_NEAR(fit.lambda, 1.8, 1e-9);
  }
}

TEST(PostalMeasure, FitIsTheLeastSquaresLine) {
  std::string error;
  // Slope 2 and intercept 8 with errors +1, -2, +1, which no line can lessen.
  const std::vector<ExperimentPoint> points = {{1, 9}, {2, 8}, {3, 13}};
  const PostalFit fit = fit_experiment(PostalExperiment::kOneWay, points, error).value();
  EXPECT_NEAR(fit.t0, 2, 1e-12);
  EXPECT_NEAR(fit.lambda, 2, 1e-12);
}

TEST(PostalMeasure, RefusesPointsWithoutALine) {
  std::string error;
  EXPECT_FALSE(fit_experiment(PostalExperiment::kOneWay, {}, error));
  const std::vector<ExperimentPoint> same = {{3, 1}, {3, 2}};
  EXPECT_FALSE(fit_experiment(PostalExperiment::kOneWay, same, error));
  EXPECT_NE(error.find("two different"), std::string::npos);
  const std::vector<ExperimentPoint> falling = {{1, 2}, {2, 1}};
  EXPECT_FALSE(fit_experiment(PostalExperiment::kThereAndBack, falling, error));
  EXPECT_NE(error.find("grow"), std::string::npos);
}

TEST(PostalMeasure, B18bReconstructedDelta) {
  EXPECT_NEAR(delta_cost(512).lambda().approximately(), 1.8, 0.0005);
  EXPECT_NEAR(delta_cost(16'384).lambda().approximately(), 1.05, 0.0005);
  EXPECT_EQ(delta_cost(0).lambda(), Rational(6, 5));
  for (std::uint64_t bytes = 0; bytes < 512; ++bytes)
    EXPECT_LT(delta_cost(bytes).lambda(), delta_cost(bytes + 1).lambda());
  for (std::uint64_t bytes = 512; bytes < 4096; ++bytes) {
    EXPECT_GT(delta_cost(bytes).lambda(), delta_cost(bytes + 1).lambda());
    EXPECT_EQ(delta_cost(bytes).difference, Rational(846));
  }
}

}  // namespace
}  // namespace fibocast
