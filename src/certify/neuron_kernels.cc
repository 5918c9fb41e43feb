// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Expectations of kernels are moments of the activation up to the fourth (Y.10); second moments are sums over
// cells (Y.11).
#include "certify/neuron_kernels.h"

#include <algorithm>
#include <cmath>

#include "activation/enclosed_arithmetic.h"

namespace mixcert {
namespace {

/// `square` is the mean square of the chords less the mean, (Y.11).
KernelLaw law_of(const Enclosed& mean, double square, double rest) {
  return {mean, (std::sqrt(std::max(0.0, square)) + rest) * kSafety};
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
  // Frequencies are those of E exp(-y a^2), y about 1.
  kernels.nodes.emplace(neuron, 2.0, 1.0);
  const CentralMoments central(*kernels.nodes, mean.error);
  const Enclosed v = nonnegative(central.second);
  kernels.variance = v;
  kernels.second = v + square(mean);
  const Enclosed skew = mean * central.third;
  const Enclosed raised = square(mean) * v;
  kernels.fourth = (central.fourth + 4.0 * skew + 6.0 * raised + square(square(mean))).upper();
  const Enclosed covariance = central.third + 2.0 * (mean * v);  // of a and a^2
  Enclosed of_tau = 0.5 * ((1.0 / 3.0) * central.fourth + skew - square(v));
  of_tau.error += kUnitRoundoff * std::abs(central.fourth.value);  // of 1/3
  const Enclosed means[kKernelCount] = {0.5 * covariance,
                                        0.5 * central.third,
                                        covariance,
                                        of_tau,
                                        0.5 * (central.fourth + 4.0 * skew + 4.0 * raised - square(v)),
                                        v};
  KernelArray centers;
  for (int p = 0; p < kKernelCount; ++p) centers[p] = means[p].value;
  kernels.squares = kernel_squares(activation, m, s, mean, v, centers);
  KernelLaw* const laws[kKernelCount] = {&kernels.tau_value,    &kernels.kernel,       &kernels.square,
                                         &kernels.kernel_value, &kernels.square_value, &kernels.tau};
  const KernelSquares& sums = kernels.squares;
  const double squares[kKernelCount] = {sums.second(0, 0), sums.second(1, 1), sums.second(2, 2),
                                        sums.third(0, 0),  sums.third(1, 1),  sums.tau};
  for (int p = 0; p < kKernelCount; ++p) *laws[p] = law_of(means[p], squares[p], sums.rest[p]);
  kernels.tau_square = std::pow(kernels.tau.deviation, 2) + std::pow(v.magnitude(), 2);
  return kernels;
}

}  // namespace mixcert
