// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The characteristic function of Y = sum_j ((M_j + noise_j g_j) a_j - M_j mu_j) + beta^{1/2} g, independent
// neurons and noise, at multiples of a frequency, and exponential bounds of its tails (Y.2) - (Y.4).
#pragma once

#include <vector>

#include "activation/neuron/neuron_nodes.h"
#include "mixcert/core/types.h"

namespace mixcert {

struct OutputLaw {
  std::vector<SummandNeuron> neurons;
  double bias_variance = 0.0;  ///< beta > 0
};

/// P(Y > x) <= exp(log_plus - order x), P(Y < -x) <= exp(log_minus - order x).
struct TailMoments {
  double order = 0.0;
  double log_plus = 0.0;
  double log_minus = 0.0;
};

/// F_Y - Phi = (1/pi) sum_k (real_k sin(k h y) - imaginary_k cos(k h y)) / k, up to `error`, for all |y| <=
/// `range`.
struct DistributionSeries {
  bool exists = false;
  double period = 0.0;  ///< 2 pi / h
  Vector real;          ///< f(kh) - exp(-(kh)^2/2), k = 1, 2, ..
  Vector imaginary;
  double error = 0.0;
  TailMoments tails;
};

/// The period is a multiple of `unit`.
DistributionSeries distribution_series(const OutputLaw& law, double range, double unit);

}  // namespace mixcert
