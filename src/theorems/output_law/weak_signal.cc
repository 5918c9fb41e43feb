// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// z = m + h + sigma g: the signal h acts by its slope alone, up to what (Y.30) counts. Numbers like 0.39895 =
// phi(0) are rounded up.
#include <algorithm>
#include <cmath>

#include "activation/neuron/upper_sums.h"
#include "methods/moment/moment_error.h"
#include "methods/moment/surrogate_law.h"
#include "theorems/output_law/output_law_distance.h"

namespace mixcert {
namespace {

/// One neuron with signal of variance `signal` and noise of deviation `sigma`: D = s(m + h + sigma g) - s(m +
/// sigma g), and what its slope alpha leaves.
struct WeakSignal {
  double slope = 0.0;   ///< alpha
  double rest = 0.0;    ///< no less than |E[D | h] - alpha h|
  double around = 0.0;  ///< no less than E (D - alpha h)^2

  WeakSignal(const Activation& f, double m, double sigma, double signal) {
    const SlopeTraits traits(f);
    const Enclosed moment = gaussian_moments(f, m, sigma).slope;
    slope = std::clamp(moment.value / sigma, traits.low, traits.high);
    const double reach = traits.reach(slope), root = std::sqrt(signal);
    const double bend = std::min(0.39895 * traits.jump() / sigma, traits.curvature);
    // |F_m(m) - alpha| and half of the bend times |h^2| = 3^{1/2} signal.
    const double error = moment.error / sigma + 1e-12 * traits.jump();
    rest = enlarged(std::min(error * root + 0.86603 * bend * signal, reach * root));
    const double high = traits.high - slope, low = traits.low - slope;
    const double range = traits.piecewise_linear ? std::abs(high * high - low * low) : reach * reach;
    const double jumps = 0.39895 * range / sigma;
    const double steep = traits.piecewise_linear ? jumps : std::min(jumps, 2.0 * reach * traits.curvature);
    // E|h|^3 = 1.5958 signal^{3/2}.
    const double still = SlopeCells(f, m, sigma).about(slope).mean;
    around = enlarged(std::min(still + 0.7979 * steep * root, reach * reach) * signal);
  }
};

}  // namespace

UpperBound weak_signal_distance(const Situation& situation, double beaten) {
  const Network& network = situation.network;
  const Index last = situation.depth;
  const DenseLayer &before = network.layer(last - 1), &next = network.layer(last);
  const Gaussian& piece = situation.traced(last).pieces.component(0);
  const SurrogateLaw& law = situation.traced(last - 1).surrogates.front();
  const Vector noise = own_noise(before, law);
  const Vector variances = piece.covariance.variances();
  const Vector weights = next.weight_mean().row(0).transpose();
  const Vector uncertainty = next.weight_variances().row(0).transpose();
  const double lipschitz = network.activation(last).lipschitz().upper;
  Vector slopes(weights.size());
  double rest = 0.0, around = 0.0, whole = 0.0;
  for (Index l = 0; l < weights.size(); ++l) {
    const double signal = positive_part(variances(l) - noise(l)) + 1e-10 * variances(l);
    const WeakSignal weak(network.activation(last).at(l), piece.mean(l), std::sqrt(noise(l)), signal);
    slopes(l) = weak.slope;
    rest += std::abs(weights(l)) * weak.rest;
    around += weights(l) * weights(l) * weak.around;
    whole += uncertainty(l) * lipschitz * lipschitz * signal;
  }
  const double moved = enlarged(std::sqrt(rest * rest + around + whole));
  // A signal that is not weak has lost before the law of the rest is computed, which costs far more.
  if (!(moved < beaten)) return {INFINITY, INFINITY};
  // The signal's part of the output is normal and independent of all else: it joins the bias.
  const Vector row = weights.cwiseProduct(slopes);
  const Vector sizes = row.cwiseAbs().cwiseProduct(variances.cwiseSqrt());
  const double linear = row.dot(piece.covariance.to_dense() * row) - row.cwiseAbs2().dot(noise);
  const double spread =
      (weights.cwiseAbs2() + uncertainty).cwiseSqrt().cwiseProduct(variances.cwiseSqrt()).norm();
  // The stored covariance is that of h and g but for rounding, which also the linear part's variance has.
  const double rounding = covariance_rounding(before);
  const double slack = rounding * (4.0 * lipschitz * spread + sizes.sum());
  const DenseLayer joined(next.name(), next.weight_mean(), next.bias_mean(), next.weights(),
                          IndependentBias{next.bias_variances().array() + positive_part(linear)});
  const Gaussian alone{piece.mean, Covariance::diagonal(noise)};
  const UpperBound line = output_law_distance(network.activation(last), joined, alone,
                                              surrogate_law(network.activation(last), alone),
                                              situation.trace.output.component(0));
  // Written so that NaN is no bound.
  if (!(line.upper + moved + slack < INFINITY)) return {INFINITY, INFINITY};
  return {line.nominal + moved, next_up(enlarged(line.upper + moved + slack))};
}

}  // namespace mixcert
