// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Expectations of kernels are moments of the activation up to the fourth (Y.10); mean squares are upper sums
// (Y.11).
#include "certify/neuron_kernels.h"

#include <algorithm>
#include <cmath>

#include "activation/enclosed_arithmetic.h"
#include "certify/line_nodes.h"

namespace mixcert {
namespace {

KernelLaw law_of(const Enclosed& mean, const KernelPowers& powers) {
  const double least = std::max(0.0, std::abs(mean.value) - mean.error);
  const double rest = std::max(0.0, powers.square - least * least * (1.0 - 1e-12));
  return {mean, std::sqrt(rest) * kSafety,
          (std::sqrt(std::sqrt(powers.fourth)) + mean.magnitude()) * kSafety};
}

/// Moments of d = a - E a from those of a - mu, |E a - mu| <= shift.
struct CentralMoments {
  Enclosed second, third, fourth;

  CentralMoments(const LineNodes& nodes, double shift) {
    second = nodes.power_moment(2);
    third = nodes.power_moment(3);
    fourth = nodes.power_moment(4);
    const double m2 = second.magnitude(), m3 = third.magnitude(), e = shift * kSafety;
    second.error = (second.error + e * e) * kSafety;
    third.error = (third.error + 3.0 * e * m2 + 2.0 * e * e * e) * kSafety;
    fourth.error = (fourth.error + 4.0 * e * m3 + 6.0 * e * e * m2 + 3.0 * e * e * e * e) * kSafety;
  }
};

}  // namespace

NeuronKernels neuron_kernels(const Activation& activation, double m, double s, const Enclosed& mean) {
  NeuronKernels kernels;
  if (!(s > 0.0)) {
    kernels.second = square(mean);
    kernels.fourth = square(kernels.second).upper();
    return kernels;
  }
  LineNeuron neuron{&activation, m, s, mean.value, mean.error};
  neuron.weight = 1.0 / s;
  const LineNodes nodes(neuron, 0.0, 1.0);
  const CentralMoments central(nodes, mean.error);
  const Enclosed v = nonnegative(central.second);
  kernels.variance = v;
  kernels.second = v + square(mean);
  const Enclosed skew = mean * central.third;
  const Enclosed raised = square(mean) * v;
  kernels.fourth = (central.fourth + 4.0 * skew + 6.0 * raised + square(square(mean))).upper();
  const Enclosed covariance = central.third + 2.0 * (mean * v);  // of a and a^2
  Enclosed of_tau = 0.5 * ((1.0 / 3.0) * central.fourth + skew - square(v));
  of_tau.error += kUnitRoundoff * std::abs(central.fourth.value);  // of 1/3
  const KernelSquares squares = kernel_squares(activation, m, s, mean, v);
  kernels.tau = law_of(v, squares.tau);
  kernels.tau_square = squares.tau.square;
  kernels.tau_value = law_of(0.5 * covariance, squares.tau_value);
  kernels.kernel = law_of(0.5 * central.third, squares.second);
  kernels.square = law_of(covariance, squares.square);
  kernels.kernel_value = law_of(of_tau, squares.second_value);
  kernels.square_value =
      law_of(0.5 * (central.fourth + 4.0 * skew + 4.0 * raised - square(v)), squares.square_value);
  return kernels;
}

}  // namespace mixcert
