// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments of activations against brute force in fifty digits: the truth lies within the error everywhere, the
// error is small where accuracy is promised, and the moments satisfy the inequalities they must.
#include "mixcert/activation/gaussian_moments.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "activation/reference_moments.h"

namespace mixcert {
namespace {

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
const std::vector<Neuron> kNeurons = {
    {0.0, 1.0},   {-0.0, 0.3},   {0.7, 0.1},    {-0.7, 2.0},  {1.5, 3.0},    {-2.5, 0.5},   {4.0, 1.0},
    {-4.0, 1.0},  {12.0, 1.5},   {-12.0, 1.5},  {0.3, 0.02},  {-0.3, 1e-3},  {30.0, 1.0},   {-30.0, 0.7},
    {0.2, 8.0},   {-3.0, 12.0},  {100.0, 40.0}, {0.0, 1e3},   {-1e6, 1e6},   {1e6, 1e6},    {1e6, 1e-3},
    {-1e6, 1e-3}, {1e6, 3.0},    {0.5, 1e-6},   {-0.5, 2e-8}, {0.5, 5e-9},   {0.0, 1e-15},  {1e-14, 1e-15},
    {0.4, 1e-15}, {-0.4, 1e-30}, {0.0, 1e-30},  {1e6, 1e-15}, {-1e6, 1e-30}, {2e-30, 1e-30}};

std::vector<Activation> activations() {
  std::vector<Activation> all;
  for (const F function : all_activation_functions()) all.emplace_back(function, 0.1);
  all.emplace_back(F::LeakyRelu, -0.4);
  return all;
}

class Moments : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Activation f = activations()[GetParam()];
};

std::string name_of(const ::testing::TestParamInfo<std::size_t>& info) {
  const Activation f = activations()[info.param];
  return std::string(to_string(f.function())) + (f.slope() < 0.0 ? "_negative" : "");
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

INSTANTIATE_TEST_SUITE_P(Activations, Moments, ::testing::Range<std::size_t>(0, 11), name_of);

}  // namespace
}  // namespace mixcert
