// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sums over the first layer's neurons for every neuron of the second (Y.25), then the theorems (Y.20),
// (Y.28). Sums of nonnegative numbers are enlarged (R.10); sums with signs get their rounding.
#include "theorems/two_layers/two_layer_distance.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "activation/neuron/upper_sums.h"
#include "core/elementary.h"
#include "methods/moment/moment_error.h"
#include "theorems/two_layers/second_layer.h"

namespace mixcert {
namespace {

/// Per neuron of the first layer, rounded up but for gain and square_slope. d = a - E a - gain x, q = a^2 - E
/// a^2.
struct FirstMoments {
  Vector gain, linear, bent;  ///< linear: |E d x|; bent: norm of what d has of Hermite rank two or more
  Vector d2, d4, q2, q4;      ///< E d^2, E d^4, E q^2, E q^4
  Vector square_sd;           ///< deviation of d^2
  Vector slope, slope_error;  ///< E q x
};

FirstMoments first_moments(const ActivationMap& activation, const Gaussian& piece, const SurrogateLaw& law) {
  const Index n = piece.dimension();
  const Vector deviations = piece.covariance.variances().cwiseSqrt();
  FirstMoments all{law.gain,         law.linear.cwiseAbs() + law.error,
                   Vector(n),        Vector(n),
                   Vector(n),        Vector(n),
                   Vector(n),        Vector(n),
                   law.square_slope, law.square_slope_error};
  for (Index j = 0; j < n; ++j) {
    const double d = std::hypot(std::hypot(law.linear(j), law.quadratic(j)), law.rest(j)) + law.error(j);
    const double q = std::hypot(law.square_slope(j), law.square_rest(j)) + law.square_slope_error(j);
    const ValuePowers powers =
        value_powers(activation.at(j), piece.mean(j), deviations(j), law.gain(j), {law.mean(j), law.error(j)},
                     {law.second(j), law.second_error(j)});
    all.d2(j) = enlarged(d * d);
    all.q2(j) = enlarged(q * q);
    all.d4(j) = larger_or_nan(powers.deviation, all.d2(j) * all.d2(j));
    all.bent(j) = enlarged(std::hypot(law.quadratic(j), law.rest(j)) + law.error(j));
    const double least = positive_part(std::hypot(law.linear(j), law.quadratic(j)) - 2.0 * law.error(j));
    all.square_sd(j) = std::sqrt(enlarged(all.d4(j)) - reduced(square(least * least)));
    all.q4(j) = larger_or_nan(powers.square, all.q2(j) * all.q2(j));
  }
  return all;
}

/// Fourth moments of sums of independent centred pairs: E (sum p)^2 (sum q)^2 is at most sum E p^2 sum E q^2
/// + 2 (sum E pq)^2 + sum E p^2 q^2.
Vector product_norm(const Vector& p2, const Vector& q2, const Vector& pq, const Vector& both) {
  return enlarged(p2.array() * q2.array() + 2.0 * pq.array().square() + both.array()).sqrt();
}

/// What the second layer's neurons have of the first, one entry each; empty where noise is missing or
/// inexact.
std::vector<NeuronSpread> neuron_spreads(const DenseLayer& layer, const SurrogateLaw& law,
                                         const FirstMoments& first, bool convex) {
  const Matrix& m = layer.weight_mean();
  const Matrix v = layer.weight_variances();
  const Index n = layer.inputs();
  const double rounding = rounding_gamma(2 * n + 64);
  const Vector mean = m * law.mean + layer.bias_mean();
  const Vector mean_error = m.cwiseAbs() * law.error +
                            rounding * (m.cwiseAbs() * law.mean.cwiseAbs() + layer.bias_mean().cwiseAbs());
  const Vector noise = own_noise(layer, law);
  const Vector noise_error = v * law.second_error + rounding * noise;
  for (Index l = 0; l < noise.size(); ++l) {
    const bool exact = noise(l) > 0.0 && noise_error(l) <= kSpreadAccuracy * noise(l) &&
                       mean_error(l) <= kSpreadAccuracy * std::sqrt(noise(l));
    if (!exact) return {};
  }
  const Matrix share = noise.cwiseInverse().asDiagonal() * v;  // of S/noise
  const Matrix m2 = m.cwiseAbs2(), share2 = share.cwiseAbs2();
  const Matrix mixed = m.cwiseProduct(share);
  // Fourth powers of products, not products of fourth powers: a share of 2^-268 has none (R.9).
  const Vector gain2 = first.gain.cwiseAbs2();
  const Vector d_fourth = first.d4.cwiseSqrt().cwiseSqrt(), q_fourth = first.q4.cwiseSqrt().cwiseSqrt();
  const Matrix m_d = m * d_fourth.asDiagonal(), share_q = share * q_fourth.asDiagonal();
  const Matrix m_gain = m * first.gain.asDiagonal();
  const Vector signal = m2 * gain2, delta2 = m2 * first.d2, u2 = share2 * first.q2;
  const Vector kurtosis = m_d.cwiseAbs2().cwiseAbs2().rowwise().sum();
  const Vector slopes = first.gain.cwiseProduct(first.slope);
  const Vector h_u = (mixed * slopes).cwiseAbs() +
                     mixed.cwiseAbs() * (rounding * slopes.cwiseAbs() +
                                         first.gain.cwiseAbs().cwiseProduct(first.slope_error));
  const Vector u3 = share_q.cwiseAbs2().cwiseProduct(share) * first.q2.cwiseSqrt();
  const Vector u4 = 3.0 * u2.cwiseAbs2() + share_q.cwiseAbs2().cwiseAbs2().rowwise().sum();
  const Vector hd = product_norm(signal, delta2, m2 * first.gain.cwiseAbs().cwiseProduct(first.linear),
                                 1.7321 * m_gain.cwiseProduct(m_d).cwiseAbs2().rowwise().sum());
  const Vector hu =
      product_norm(signal, u2, h_u, 1.7321 * m_gain.cwiseProduct(share_q).cwiseAbs2().rowwise().sum());
  const Vector du = product_norm(delta2, u2, mixed.cwiseAbs() * first.d2.cwiseProduct(first.q2).cwiseSqrt(),
                                 m_d.cwiseProduct(share_q).cwiseAbs2().rowwise().sum());
  const Vector couplings =
      square_couplings(m, {first.gain, first.linear, first.bent, first.square_sd}, signal);
  std::vector<NeuronSpread> all;
  for (Index l = 0; l < noise.size(); ++l) {
    const double square = delta2(l) * delta2(l);
    all.push_back({mean(l), noise(l), layer.bias_variances()(l), convex, enlarged(signal(l)),
                   enlarged(delta2(l)),
                   std::min(enlarged(std::sqrt(2.0 * square + kurtosis(l))), couplings(l)),
                   enlarged(3.0 * square + kurtosis(l)), enlarged(u2(l)), enlarged(u3(l)), enlarged(u4(l)),
                   hd(l), hu(l), du(l)});
  }
  return all;
}

/// (Y.21) - (Y.26) for all neurons of the second layer, in front of activation `f`.
std::vector<NeuronCarry> carried_neurons(const ActivationMap& f, const DenseLayer& layer,
                                         const FarSides& sides, const std::vector<NeuronSpread>& spreads) {
  const Matrix means = layer.weight_mean().transpose(), variances = layer.weight_variances().transpose();
  std::vector<NeuronCarry> neurons;
  for (std::size_t l = 0; l < spreads.size(); ++l) {
    const NeuronSpread& spread = spreads[l];
    const auto place = static_cast<Index>(l);
    const FarSide far_side = [&](double rate) {
      const FarSides::Neuron neuron{layer.bias_mean()(place), spread.least, means.col(place),
                                    variances.col(place)};
      return sides.square(neuron, spread.mean < 0.0 ? 1.0 : -1.0, rate);
    };
    neurons.push_back(carry_neuron(f.at(place), spread, sides.exist() ? far_side : nullptr));
  }
  return neurons;
}

/// Stored moments and rounding of the Gaussian, and the rounded deviations of the piece, carried by (M.8).
double carried_slack(const ActivationMap& activation, const DenseLayer& layer, const Gaussian& piece,
                     const SurrogateLaw& law, const std::vector<ErrorNorm>& error_norms) {
  const PieceError error(layer, piece, law);
  const Vector shifts = rounding_gamma(piece.covariance.rank() + 4) * activation.lipschitz().upper *
                        piece.covariance.variances().cwiseSqrt();
  const Vector noise = layer.weight_variances() * shifts.cwiseAbs2();
  double best = INFINITY;
  for (const ErrorNorm& error_norm : error_norms) {
    double sum = 0.0;
    for (const NormTerm& norm : error_norm.norms) {
      const double moved = norm.gram_roots.dot(shifts) + std::sqrt(norm.metric.dot(noise));
      sum += norm.factor * (error.slack(norm) + moved);
    }
    best = std::min(best, enlarged(sum));
  }
  return best;
}

/// Written so that NaN, left by an overflow, is no bound.
UpperBound with_slack(double distance, double slack) {
  if (!(distance + slack < INFINITY)) return {INFINITY, INFINITY};
  return {distance, next_up(enlarged(distance + slack))};
}

}  // namespace

TwoLayerDistance two_layer_distance(const Situation& situation, bool both) {
  const Network& network = situation.network;
  const Gaussian& piece = situation.traced(1).pieces.component(0);
  const SurrogateLaw& law = situation.traced(1).surrogates.front();
  const DenseLayer& layer = network.layer(1);
  const FirstMoments first = first_moments(network.activation(1), piece, law);
  const bool convex = situation.layer(1).has_convex_sizes;
  const std::vector<NeuronSpread> spreads = neuron_spreads(layer, law, first, convex);
  if (spreads.empty()) return {};
  const std::vector<NeuronCarry> neurons =
      carried_neurons(network.activation(2), layer, FarSides(network.activation(1), piece), spreads);
  const DenseLayer& next = network.layer(2);
  const CarriedParts parts(layer, next, first.d2.cwiseSqrt(), first.q2.cwiseSqrt(), neurons);
  const double slack = carried_slack(network.activation(1), layer, piece, law, situation.error_norms.front());
  TwoLayerDistance distance;
  distance.first = with_slack(parts.distance(), slack);
  if (!both) return distance;
  const MomentLayerTrace& last = situation.traced(2);
  const PieceError second(next, last.pieces.component(0), last.surrogates.front(),
                          situation.layer(2).noise_rule());
  const NormTerm& output = situation.error_norms.back().front().norms.front();
  const double lipschitz = network.activation(2).lipschitz().upper;
  const JoinedDistance joined =
      joined_distance(parts, spreads, layer, next, last.surrogates.front(), second, output, lipschitz);
  distance.both = with_slack(joined.distance, slack + joined.slack + second.slack(output));
  return distance;
}

}  // namespace mixcert
