// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of Gaussian moments against differences of the certified moments.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "gradient/moment/moment_gradient.h"

namespace mixcert {
namespace moment_derivatives_test {

/// Central differences with one step of Richardson's extrapolation, in mean and in deviation.
Eigen::RowVector2d differences(const std::function<double(double, double)>& f, double m, double s) {
  const auto central = [](const std::function<double(double)>& g, double h) {
    return (4.0 * (g(0.5 * h) - g(-0.5 * h)) / h - (g(h) - g(-h)) / (2.0 * h)) / 3.0;
  };
  const double h = 2e-3 * s;
  return {central([&](double t) { return f(m + t, s); }, h),
          central([&](double t) { return f(m, s + t); }, h)};
}

class MomentDerivativesTest : public ::testing::TestWithParam<ActivationFunction> {};

TEST_P(MomentDerivativesTest, AreThoseOfTheCertifiedMoments) {
  const Activation activation(GetParam(), 0.1);
  for (const double m : {-1.3, 0.0, 0.2, 2.5}) {
    for (const double s : {0.05, 0.7, 1.0, 4.0}) {
      const MomentDerivatives d = moment_derivatives(activation, m, s);
      const auto check = [&](const Eigen::RowVector2d& got,
                             const std::function<double(const GaussianMoments&)>& of, const char* name) {
        const Eigen::RowVector2d expected =
            differences([&](double x, double y) { return of(gaussian_moments(activation, x, y)); }, m, s);
        const double scale =
            std::max({1e-3, expected.norm(), std::abs(of(gaussian_moments(activation, m, s))) / s});
        EXPECT_LT((got - expected).norm(), 1e-8 * scale) << name << " at " << m << ", " << s;
      };
      check(
          d.mean, [](const GaussianMoments& g) { return g.mean.value; }, "mean");
      check(
          d.slope, [](const GaussianMoments& g) { return g.slope.value; }, "slope");
      check(
          d.curvature, [](const GaussianMoments& g) { return g.curvature.value; }, "curvature");
      check(
          d.residual, [](const GaussianMoments& g) { return g.residual.value; }, "residual");
      check(
          d.second, [](const GaussianMoments& g) { return g.second.value; }, "second");
      check(
          d.square_slope, [](const GaussianMoments& g) { return g.square_slope.value; }, "square slope");
      check(
          d.square_variance, [](const GaussianMoments& g) { return g.square_variance.value; },
          "square variance");
    }
  }
}

TEST_P(MomentDerivativesTest, HermiteCoefficients) {
  const Activation activation(GetParam(), 0.1);
  for (const double m : {-0.8, 0.0, 0.4}) {
    for (const double s : {0.3, 1.0, 2.0}) {
      const HermiteDerivatives d = hermite_derivatives(activation, m, s);
      const HermiteExpansion at = hermite_expansion(activation, m, s);
      for (Index p = 0; p <= at.order; ++p) {
        const Eigen::RowVector2d expected = differences(
            [&](double x, double y) { return hermite_expansion(activation, x, y).value(p); }, m, s);
        EXPECT_LT((d.coefficients.row(p) - expected).norm(), 1e-8) << "c_" << p << " at " << m << ", " << s;
      }
      const Eigen::RowVector2d variance = differences(
          [&](double x, double y) { return hermite_expansion(activation, x, y).variance.value; }, m, s);
      EXPECT_LT((d.variance - variance).norm(), 1e-8);
      if (at.order == 2) continue;  // elu: the expansion has a constant in place of E f'^2
      const Eigen::RowVector2d energy = differences(
          [&](double x, double y) { return hermite_expansion(activation, x, y).slope_energy; }, m, s);
      EXPECT_LT((d.slope_energy - energy).norm(), 1e-7 * (1.0 + energy.norm()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, MomentDerivativesTest, ::testing::ValuesIn(all_activation_functions()),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

}  // namespace moment_derivatives_test
}  // namespace mixcert
