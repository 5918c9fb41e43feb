// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Expectations of kernels are moments of the activation up to the fourth (Y.10); second moments are closed
// forms for ReLU, sums over cells otherwise (Y.11).
#include "theorems/stein/neuron_kernels.h"

#include <algorithm>
#include <cmath>

#include "activation/enclosed_arithmetic.h"

namespace mixcert {
namespace {

/// Moments of d = a - E a from those of a - mu, |E a - mu| <= shift.
CentralMoments central_moments(const NeuronNodes& nodes, const Enclosed& mean) {
  CentralMoments a{mean, nodes.power_moment(2), nodes.power_moment(3), nodes.power_moment(4)};
  const double m2 = a.second.magnitude(), m3 = a.third.magnitude(), e = enlarged(mean.error);
  a.second.error = enlarged(a.second.error + e * e);
  a.third.error = enlarged(a.third.error + 3.0 * e * m2 + 2.0 * e * e * e);
  a.fourth.error = enlarged(a.fourth.error + 4.0 * e * m3 + 6.0 * e * e * m2 + 3.0 * e * e * e * e);
  a.second = nonnegative(a.second);
  return a;
}

void scale_law(KernelLaw& law, const Enclosed& factor) {
  law.mean = law.mean * factor;
  law.deviation *= enlarged(factor.upper());
}

}  // namespace

NeuronKernels::NeuronKernels(const CentralMoments& a)
    : variance(a.second), second(a.second + mixcert::square(a.mean)) {
  const Enclosed &mean = a.mean, &v = a.second;
  const Enclosed skew = mean * a.third;
  const Enclosed raised = mixcert::square(mean) * v;
  fourth = (a.fourth + 4.0 * skew + 6.0 * raised + mixcert::square(mixcert::square(mean))).upper();
  const Enclosed covariance = a.third + 2.0 * (mean * v);  // of a and a^2
  Enclosed of_tau = 0.5 * ((1.0 / 3.0) * a.fourth + skew - mixcert::square(v));
  of_tau.error += kUnitRoundoff * std::abs(a.fourth.value);  // of 1/3
  tau.mean = v;
  tau_value.mean = 0.5 * covariance;
  kernel.mean = 0.5 * a.third;
  this->square.mean = covariance;
  kernel_value.mean = of_tau;
  square_value.mean = 0.5 * (a.fourth + 4.0 * skew + 4.0 * raised - mixcert::square(v));
}

KernelArray NeuronKernels::centers() const {
  return {tau_value.mean.value,    kernel.mean.value,       square.mean.value,
          kernel_value.mean.value, square_value.mean.value, tau.mean.value};
}

void NeuronKernels::take_squares(const KernelSquares& taken) {
  squares = taken;
  const auto deviation = [&](double chords, KernelName p) {
    return enlarged(std::sqrt(positive_part(chords)) + taken.rest[p]);
  };
  tau_value.deviation = deviation(taken.second(0, 0), kTauValue);
  kernel.deviation = deviation(taken.second(1, 1), kKernel);
  square.deviation = deviation(taken.second(2, 2), kSquare);
  kernel_value.deviation = deviation(taken.third(0, 0), kKernelValue);
  square_value.deviation = deviation(taken.third(1, 1), kSquareValue);
  tau.deviation = deviation(taken.tau, kTau);
  tau_square = std::pow(tau.deviation, 2) + std::pow(tau.mean.magnitude(), 2);
}

void NeuronKernels::scale(double s) {
  const Enclosed two = mixcert::square(exactly(s)), three = s * two, four = mixcert::square(two);
  variance = variance * two;
  second = second * two;
  scale_law(tau, two);
  for (KernelLaw* law : {&tau_value, &kernel, &square}) scale_law(*law, three);
  for (KernelLaw* law : {&kernel_value, &square_value}) scale_law(*law, four);
  fourth *= enlarged(four.upper());
  tau_square *= enlarged(four.upper());
  squares.second *= three.value * three.value;
  squares.third *= four.value * four.value;
  squares.tau *= enlarged(four.value);
  // What rounding changes off the diagonal counts on it.
  squares.second.diagonal() = enlarged(squares.second.diagonal());
  squares.third.diagonal() = enlarged(squares.third.diagonal());
  const double powers[kKernelCount] = {three.value, three.value, three.value,
                                       four.value,  four.value,  two.value};
  for (int p = 0; p < kKernelCount; ++p) squares.rest[p] *= enlarged(powers[p]);
}

NeuronKernels neuron_kernels(const Activation& activation, double m, double s, const Enclosed& mean) {
  if (!(s > 0.0)) {
    NeuronKernels kernels;
    kernels.second = square(mean);
    kernels.fourth = square(kernels.second).upper();
    return kernels;
  }
  if (activation.function() == ActivationFunction::Relu && has_relu_kernels(m, s)) return relu_kernels(m, s);
  SummandNeuron neuron{&activation, m, s, mean.value, mean.error};
  neuron.weight = 1.0 / s;
  // Frequencies are those of E exp(-y a^2), y about 1.
  const NeuronNodes nodes(neuron, 2.0, 1.0);
  NeuronKernels kernels(central_moments(nodes, mean));
  kernels.nodes.emplace(nodes);
  kernels.take_squares(kernel_squares(activation, m, s, mean, kernels.variance, kernels.centers()));
  return kernels;
}

}  // namespace mixcert
