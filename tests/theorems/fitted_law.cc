// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "theorems/fitted_law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "mixcert/certify/certify.h"
#include "support/random_laws.h"
#include "theorems/output_law_oracle.h"

namespace mixcert::testing {
namespace {

/// 1-64-1 or 8-64-1 at a random input, every weight with noise of `noise` times the weights' size.
LineNetwork random_regression(Index index) {
  static const ActivationFunction functions[] = {ActivationFunction::Relu, ActivationFunction::Tanh,
                                                 ActivationFunction::Gelu};
  Generator generator = make_generator(700 + static_cast<std::uint64_t>(index), Stream::Example, 27);
  const Index inputs = index % 2 == 0 ? 1 : 8, width = 64;
  const double noise = std::pow(10.0, -1.0 + static_cast<double>(index % 11) / 10.0);
  const double size = 1.0 / std::sqrt(static_cast<double>(inputs)), last = 1.0 / 8.0;
  const Vector input = random_matrix(generator, inputs, 1);
  LineNetwork net;
  net.activation = Activation(functions[(index / 2) % 3]);
  net.mean =
      size * random_matrix(generator, width, inputs) * input + 0.5 * random_matrix(generator, width, 1);
  const double square = size * size * input.squaredNorm() + 0.25;
  net.deviation = Vector::Constant(width, noise * std::sqrt(square));
  net.weight = last * random_matrix(generator, width, 1);
  net.variance = Vector::Constant(width, noise * noise * last * last);
  net.bias_variance = noise * noise * last * last;
  return net;
}

Result certified(const LineNetwork& net, Index components, double epsilon = 0.0) {
  Options options;
  options.threads = 1;
  options.components = components;
  if (epsilon > 0.0) options.epsilon = epsilon;
  return certify(net.network(), Vector::Ones(1), options).front();
}

double middle_of(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

}  // namespace

void check_fitted_laws(Index count) {
  std::vector<double> bounds, gaussians, ratios;
  Index met = 0, far = 0, gained = 0;
  for (Index index = 0; index < count; ++index) {
    SCOPED_TRACE(std::to_string(index));
    const LineNetwork net = random_regression(index);
    const Result one = certified(net, 1), fitted = certified(net, 5);
    const double deviation = one.mixture.standard_deviation()(0);
    const double truth = naive_line_distance(net, fitted.mixture);
    const double of_gaussian = naive_line_distance(net, one.mixture);
    ASSERT_GE(truth, 0.0);
    EXPECT_GE(fitted.w2.value, truth * (1.0 - 1e-3) - 2e-6 * deviation);
    EXPECT_GE(one.w2.value, of_gaussian * (1.0 - 1e-3) - 2e-6 * deviation);
    EXPECT_LE(fitted.w2.value, one.w2.value);
    bounds.push_back(fitted.w2.value / deviation);
    gaussians.push_back(one.w2.value / deviation);
    ratios.push_back((fitted.w2.value - 0.002 * deviation) / truth);
    if (certified(net, 5, 0.003 * deviation).w2.value <= 0.003 * deviation) ++met;
    // Clearly not normal.
    if (of_gaussian < 0.015 * deviation) continue;
    ++far;
    if (fitted.w2.value <= 0.2 * one.w2.value) ++gained;
  }
  std::printf(
      "bound / deviation, one Gaussian: median %.4f, largest %.4f; five components: median %.4f, 90 %% %.4f, "
      "largest %.4f\n(bound - 0.002 deviations) / distance: median %.3f, largest %.3f\n"
      "0.003 deviations met: %d of %d; at least five times closer where a Gaussian is 0.015 away: %d of %d\n",
      middle_of(gaussians, 0.5), middle_of(gaussians, 1.0), middle_of(bounds, 0.5), middle_of(bounds, 0.9),
      middle_of(bounds, 1.0), middle_of(ratios, 0.5), middle_of(ratios, 1.0), static_cast<int>(met),
      static_cast<int>(count), static_cast<int>(gained), static_cast<int>(far));
  EXPECT_GE(10 * met, 9 * count);
  EXPECT_EQ(gained, far);
  EXPECT_LE(middle_of(ratios, 1.0), 1.1);
}

}  // namespace mixcert::testing
