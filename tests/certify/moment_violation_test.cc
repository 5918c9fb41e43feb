// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Cases that were certified falsely, or not at all, once: splits along a direction whose pivot is rounding,
// bounds that are not numbers, subnormal variances.
#include <gtest/gtest.h>

#include <cmath>

#include "certify/small_networks.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"

namespace mixcert::testing {
namespace moment_violation_test {

const Vector kOne = Vector::Ones(1);

Options options_for(Method method, Index pieces = 1) {
  Options options;
  options.method = method;
  if (method == Method::Moment) options.theorems = TheoremSet::Coupling;
  options.pieces = pieces;
  options.threads = 1;
  return options;
}

/// z_1 and z_2 differ by a few units of roundoff, all of it shared with z_3, which relu leaves alone. The
/// covariance is exactly positive semidefinite: det = C_11 (delta C_33 - C_23^2), delta = C_22 - C_11.
Network nearly_parallel(double variance, int ulps) {
  double second = variance;
  for (int i = 0; i < ulps; ++i) second = std::nextafter(second, 2.0 * variance);
  const double shared = std::sqrt(second - variance) * (1.0 - 1e-6);
  Matrix covariance(3, 3);
  covariance << variance, variance, 0.0, variance, second, shared, 0.0, shared, 1.0;
  Vector mean(3);
  mean << 0.0, 0.0, 20.0;
  Matrix read(1, 3);
  read << 0.02, 0.02, 1.0;
  return network_of({{"first", Matrix::Zero(3, 1), mean, DeterministicWeights{}, CorrelatedBias{covariance}},
                     {"last", read, Vector::Zero(1), DeterministicWeights{}, DeterministicBias{}}},
                    ActivationFunction::Relu);
}

/// The second pivot of the Schur complement is rounding; the direction taken out is then no part of C.
TEST(MomentViolation, SplitsOfNearlyParallelNeurons) {
  SimulationOptions simulation;
  simulation.samples = 100000;
  simulation.threads = 1;
  for (const double variance : {0.3, 1.7, 3.0, 5.0}) {
    for (int ulps = 1; ulps <= 24; ++ulps) {
      const Network network = nearly_parallel(variance, ulps);
      const Result result = certify(network, kOne, options_for(Method::Moment, 512)).front();
      const EmpiricalDistance estimate =
          empirical_distance(simulate(network, kOne, 0, simulation), result.mixture, 2, 0);
      EXPECT_GE(result.w2.value, estimate.distance - 3.0 * estimate.floor)
          << "variance " << variance << " + " << ulps << " units; empirical " << estimate.distance;
    }
  }
}

/// Moments of a^2 overflow: such networks are refused (R.9), by every method, alone and jointly.
TEST(MomentViolation, NumbersWithoutFourthMomentsAreRefused) {
  const Network network = network_of({scalar_layer(0.0, 1e160, 0.0, 0.0), scalar_layer(0.0, 1.0, 0.0, 0.0)},
                                     ActivationFunction::Relu);
  for (const Method method : {Method::Auto, Method::Moment, Method::Signature}) {
    EXPECT_THROW(certify(network, kOne, options_for(method)), InvalidArgument);
  }
  Options options = options_for(Method::Moment);
  options.joint = true;
  const Matrix inputs = Matrix::Identity(2, 2).row(0) + Matrix::Constant(1, 2, 0.5);
  EXPECT_THROW(certify(network, inputs, options), InvalidArgument);
}

/// 1e150 relu(1e-160 x) has mean 4e-11; the mixture's mean is 0.
TEST(MomentViolation, SignaturesOfSubnormalVariances) {
  const Network network = network_of(
      {scalar_layer(0.0, 1e-320, 0.0, 0.0), scalar_layer(1e150, 0.0, 0.0, 0.0)}, ActivationFunction::Relu);
  const Result result = certify(network, kOne, options_for(Method::Signature)).front();
  const double truth = 1e150 * std::sqrt(1e-320) / std::sqrt(2.0 * 3.14159265358979);
  EXPECT_FALSE(result.w1.value < 0.99 * std::abs(truth - result.mixture.mean()(0)));
}

}  // namespace moment_violation_test
}  // namespace mixcert::testing
