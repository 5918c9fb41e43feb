// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments of activations against brute force in fifty digits: the truth lies within the error everywhere, the
// error is small where accuracy is promised, and the moments satisfy the inequalities they must.
#include "activation/gaussian_moments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "activation/activation_traits.h"
#include "activation/reference_moments.h"

namespace mixcert {
namespace gaussian_moments_test {

using testing::Precise;
using F = ActivationFunction;

constexpr std::array<const char*, 7> kMomentNames = {"mean",   "slope",        "curvature",      "residual",
                                                     "second", "square_slope", "square_variance"};

std::array<Enclosed, 7> in_order(const GaussianMoments& m) {
  return {m.mean, m.slope, m.curvature, m.residual, m.second, m.square_slope, m.square_variance};
}

/// Natural size of each moment: what errors are compared with.
std::array<double, 7> scales(const Activation& f, double mean, double s) {
  const double level = std::abs(f(mean)) + s;
  return {level, s, s, s * s, level * level, level * s, level * level * s * s};
}

/// The reference has forty digits of a - f(m), more than forty of f(m).
std::array<double, 7> reference_errors(const Activation& f, double mean, double s) {
  const double level = std::abs(f(mean)) + s;
  const double small = 1e-38 * s + 1e-47 * level;
  return {small,
          small,
          small,
          small * (s + 1e-47 * level),
          small * level,
          small * level,
          1e-38 * level * level * s * s};
}

struct Neuron {
  double mean, deviation;
};

// Ordinary neurons, dead and saturated ones, kinks at the mean, deviations from 1e-30 to 1e6.
const std::vector<Neuron> kNeurons = {{0.0, 1.0},    {-0.0, 0.3},    {0.7, 0.1},   {-0.7, 2.0},  {1.5, 3.0},
                                      {-4.0, 1.0},   {12.0, 1.5},    {-12.0, 1.5}, {0.3, 0.02},  {-0.3, 1e-3},
                                      {30.0, 1.0},   {-30.0, 0.7},   {-3.0, 12.0}, {0.0, 1e3},   {-1e6, 1e6},
                                      {1e6, 1e6},    {1e6, 1e-3},    {-1e6, 1e-3}, {1e6, 3.0},   {-0.5, 2e-8},
                                      {0.5, 5e-9},   {1e-14, 1e-15}, {0.4, 1e-15}, {0.0, 1e-30}, {1e6, 1e-15},
                                      {-1e6, 1e-30}, {-3e11, 9e11},  {4e11, 2e12}, {0.0, 1e18}};

std::vector<Activation> activations() {
  std::vector<Activation> all;
  for (const F function : all_activation_functions()) all.emplace_back(function, 0.1);
  all.emplace_back(F::LeakyRelu, -0.4);
  using Parameters = ActivationParameters;
  all.emplace_back(F::Hardtanh, Parameters{.lower = 0.25, .upper = 2.0});
  all.emplace_back(F::Hardtanh, Parameters{.lower = -3e-3, .upper = 1e-3});
  for (const double alpha : {0.5, 2.5}) {
    all.emplace_back(F::Elu, Parameters{.alpha = alpha});
    all.emplace_back(F::Celu, Parameters{.alpha = alpha});
  }
  return all;
}

class Moments : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Activation f = activations()[GetParam()];
};

std::string name_of(const ::testing::TestParamInfo<std::size_t>& info) {
  const Activation f = activations()[info.param];
  return std::string(to_string(f.function())) + "_" + std::to_string(info.param);
}

TEST_P(Moments, LieWithinTheirErrors) {
  for (const Neuron& n : kNeurons) {
    const auto computed = in_order(gaussian_moments(f, n.mean, n.deviation));
    const auto reference = testing::BruteForce(f, n.mean, n.deviation).moments();
    const auto scale = scales(f, n.mean, n.deviation);
    const auto reference_error = reference_errors(f, n.mean, n.deviation);
    for (std::size_t i = 0; i < computed.size(); ++i) {
      const auto difference = static_cast<double>(abs(Precise(computed[i].value) - reference[i]));
      SCOPED_TRACE(std::string(kMomentNames[i]) + " m " + std::to_string(n.mean) + " s " +
                   std::to_string(n.deviation));
      EXPECT_LE(difference, computed[i].error + reference_error[i]);
      EXPECT_LT(computed[i].error, INFINITY);
      if (n.deviation >= 1e-2 && n.deviation <= 3.0 && std::abs(n.mean) < 50.0) {
        EXPECT_LE(computed[i].error, 1e-10 * scale[i]);
      }
    }
  }
}

/// Kinks at the mean and a little beside it, at every size of the deviation.
TEST_P(Moments, LieWithinTheirErrorsAroundKinks) {
  if (f.traits().pieced() == nullptr) return;
  const std::vector<double> cuts = testing::reference_cuts(f);
  for (double s = 1e-8; s <= 1e4; s *= 1e3) {
    for (std::size_t i = 0; i < cuts.size(); i += 1 + cuts.size() / 8) {
      for (const double place : {-3.0, 0.0, 0.7}) {
        const double mean = cuts[i] + place * s;
        if (std::abs(mean) > 1e3) continue;
        const auto computed = in_order(gaussian_moments(f, mean, s));
        const auto reference = testing::BruteForce(f, mean, s).moments();
        const auto reference_error = reference_errors(f, mean, s);
        for (std::size_t k = 0; k < computed.size(); ++k) {
          const auto difference = static_cast<double>(abs(Precise(computed[k].value) - reference[k]));
          EXPECT_LE(difference, computed[k].error + reference_error[k])
              << kMomentNames[k] << " m " << mean << " s " << s;
        }
      }
    }
  }
}

TEST_P(Moments, AreThoseOfAConstantWithoutDeviation) {
  for (const double mean : {0.0, -0.0, 0.4, -0.4, 7.0, -7.0, 1e6, -1e6}) {
    const auto computed = in_order(gaussian_moments(f, mean, 0.0));
    const Precise value = testing::naive_activation<Precise>(f, mean);
    EXPECT_LE(abs(computed[0].value - value), computed[0].error) << mean;
    EXPECT_LE(abs(computed[4].value - value * value), computed[4].error) << mean;
    EXPECT_LE(computed[0].error, 1e-14 * (1.0 + std::abs(f(mean)))) << mean;
    for (const std::size_t i : {1, 2, 3, 5, 6}) {
      EXPECT_EQ(computed[i].value, 0.0) << kMomentNames[i];
      EXPECT_EQ(computed[i].error, 0.0) << kMomentNames[i];
    }
  }
}

TEST_P(Moments, SatisfyTheInequalitiesBetweenThem) {
  for (double s = 1e-12; s < 1e20; s *= 7.0) {
    for (const double place : {-60.0, -9.1, -3.0, -0.4, 0.0, 0.4, 3.0, 9.1, 60.0}) {
      const GaussianMoments m = gaussian_moments(f, place * s, s);
      SCOPED_TRACE(std::to_string(place) + " " + std::to_string(s));
      for (const Enclosed& moment : in_order(m)) {
        ASSERT_TRUE(std::isfinite(moment.value));
        ASSERT_LT(moment.error, INFINITY);
        ASSERT_GE(moment.error, 0.0);
      }
      EXPECT_GE(m.residual.value, 0.0);
      EXPECT_GE(m.second.value, 0.0);
      EXPECT_GE(m.square_variance.value, 0.0);
      const double curvature = std::max(0.0, std::abs(m.curvature.value) - m.curvature.error);
      EXPECT_LE(curvature * curvature, m.residual.upper() * (1.0 + 1e-15));
      const double slope = std::max(0.0, std::abs(m.slope.value) - m.slope.error);
      EXPECT_LE(slope, f.lipschitz().upper * s * (1.0 + 1e-15));
      const double square_slope = std::max(0.0, std::abs(m.square_slope.value) - m.square_slope.error);
      EXPECT_LE(square_slope * square_slope, m.square_variance.upper() * (1.0 + 1e-15));
    }
  }
}

TEST_P(Moments, NeverAreNotANumber) {
  const double huge = std::numeric_limits<double>::max();
  for (const double mean : {-huge, -1e160, 0.0, 1e-310, 1e160, huge}) {
    for (const double s : {std::numeric_limits<double>::denorm_min(), 1e-300, 1.0, 1e100, 1e160, huge}) {
      for (const Enclosed& moment : in_order(gaussian_moments(f, mean, s))) {
        EXPECT_TRUE(std::isfinite(moment.value)) << mean << " " << s;
        EXPECT_GE(moment.error, 0.0) << mean << " " << s;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Activations, Moments, ::testing::Range<std::size_t>(0, activations().size()),
                         name_of);

TEST(ReluMoments, AreRelativelyAccurateForDeadAndActiveNeurons) {
  const Activation relu(F::Relu);
  for (const double place : {2.0, 6.0, 12.0, 20.0, 30.0}) {
    const auto reference = testing::BruteForce(relu, -3.0 * place, 3.0, 38).moments();
    const GaussianMoments dead = gaussian_moments(relu, -3.0 * place, 3.0);
    const GaussianMoments active = gaussian_moments(relu, 3.0 * place, 3.0);
    EXPECT_LE(abs(dead.mean.value - reference[0]), dead.mean.error);
    EXPECT_LE(dead.mean.error, 1e-8 * dead.mean.value) << place;
    // relu(z) and relu(-z) differ by a linear function: the same residual.
    for (const Enclosed& residual : {dead.residual, active.residual}) {
      EXPECT_LE(abs(residual.value - reference[3]), residual.error) << place;
      EXPECT_LE(residual.error, 1e-6 * residual.value) << place;
    }
  }
}

// The vectorised functions are held to the accuracy assumed of the C library.
TEST(NodeFunctions, EigenMatchesTheLibrary) {
  constexpr int kPoints = 4001;
  const Eigen::ArrayXd x = Eigen::ArrayXd::LinSpaced(kPoints, -700.0, 700.0);
  const Eigen::ArrayXd near = Eigen::ArrayXd::LinSpaced(kPoints, -3.0, 3.0);
  const Eigen::ArrayXd between = Eigen::ArrayXd::LinSpaced(kPoints, 1.0, 2.0);
  const double unit = 0.5 * kElementaryFunctionError;
  for (const Eigen::ArrayXd& points : {x, near}) {
    const Eigen::ArrayXd computed = points.exp();
    for (int i = 0; i < kPoints; ++i) {
      EXPECT_NEAR(computed(i), std::exp(points(i)), unit * std::exp(points(i))) << points(i);
    }
  }
  const Eigen::ArrayXd logarithms = between.log();
  for (int i = 0; i < kPoints; ++i) EXPECT_NEAR(logarithms(i), std::log(between(i)), unit * logarithms(i));
  const Eigen::ArrayXd far = (Eigen::ArrayXd(4) << -1e6, -750.0, 750.0, 1e6).finished().exp();
  EXPECT_LT(far(0), 1e-300);
  EXPECT_LT(far(1), 1e-300);
  EXPECT_GT(far(2), 1e300);
  EXPECT_GT(far(3), 1e300);
}

}  // namespace gaussian_moments_test
}  // namespace mixcert
