// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/gradients.md: the moments of a surrogate law (Z.6), and its push to the next layer (Z.10).
#include <cmath>
#include <variant>

#include "gradient/moment/moment_gradient.h"
#include "methods/moment/surrogate_law.h"

namespace mixcert {
namespace {

// Rests below this fraction of what they are the rest of are rounding (the root of some roundoffs).
constexpr double kNothingLeft = 3e-7;
// Gains of dead neurons, below this fraction of the deviation, are the quadrature's errors.
constexpr double kNoGain = 1e-10;

/// Of sqrt(total - part^2), `rest` being its value; zero where nothing but rounding is left.
Eigen::RowVector2d rest_derivatives(double rest, double scale, const Eigen::RowVector2d& total, double part,
                                    const Eigen::RowVector2d& part_derivatives) {
  if (!(rest > kNothingLeft * scale)) return Eigen::RowVector2d::Zero();
  return (0.5 * total - part * part_derivatives) / rest;
}

bool is_zero(const SurrogateGradient& bar, Index j) {
  return bar.mean(j) == 0.0 && bar.gain(j) == 0.0 && bar.linear(j) == 0.0 && bar.quadratic(j) == 0.0 &&
         bar.rest(j) == 0.0 && bar.second(j) == 0.0 && bar.square_slope(j) == 0.0 &&
         bar.square_rest(j) == 0.0;
}

/// (d/dm, d/ds) at coordinate j.
Eigen::RowVector2d spread_coordinate(const MomentDerivatives& d, Index j, double deviation,
                                     const SurrogateLaw& law, const SurrogateGradient& bar) {
  const double gain = law.gain(j);
  const double slope = law.linear(j) + gain;
  // gain^2 = c_1^2 + T^2, linear = c_1 - gain.
  Eigen::RowVector2d gain_derivatives = Eigen::RowVector2d::Zero();
  if (std::abs(gain) > kNoGain * deviation) gain_derivatives = (slope * d.slope + 0.5 * d.residual) / gain;
  const double spread = std::hypot(law.square_slope(j), law.square_rest(j));
  return bar.mean(j) * d.mean + (bar.gain(j) - bar.linear(j)) * gain_derivatives + bar.linear(j) * d.slope +
         bar.quadratic(j) * d.curvature +
         bar.rest(j) *
             rest_derivatives(law.rest(j), std::abs(gain), d.residual, law.quadratic(j), d.curvature) +
         bar.second(j) * d.second + bar.square_slope(j) * d.square_slope +
         bar.square_rest(j) * rest_derivatives(law.square_rest(j), spread, d.square_variance,
                                               law.square_slope(j), d.square_slope);
}

}  // namespace

SurrogateGradient SurrogateGradient::zero(Index size) {
  const Vector zeros = Vector::Zero(size);
  return {zeros, zeros, zeros, zeros, zeros, zeros, zeros, zeros};
}

CoordinateGradient surrogate_gradient(const ActivationMap& activation, ConstVectorRef means,
                                      ConstVectorRef deviations, Index input_count, const SurrogateLaw& law,
                                      const SurrogateGradient& bar) {
  const Index n = means.size();
  CoordinateGradient gradient{Vector::Zero(n), Vector::Zero(n)};
  for (Index j = 0; j < n; ++j) {
    // Behind a prior's weights, of mean zero, nothing depends on the surrogate.
    if (is_zero(bar, j)) continue;
    const Activation& f = activation.at(j / input_count);
    if (deviations(j) > 0.0) {
      const Eigen::RowVector2d both =
          spread_coordinate(moment_derivatives(f, means(j), deviations(j)), j, deviations(j), law, bar);
      gradient.mean(j) = both(0);
      gradient.deviation(j) = both(1);
    } else {
      // A constant: a = f(m), E a^2 = f(m)^2.
      gradient.mean(j) = f.derivative(means(j)) * (bar.mean(j) + 2.0 * law.mean(j) * bar.second(j));
    }
  }
  return gradient;
}

// The push (Z.10).

namespace {

/// M diag(gain^2) M', coordinates being independent.
void add_independent_signal(const Matrix& m, const SurrogateLaw& law, const Matrix& left,
                            SurrogateGradient& surrogate, LayerGradient& layer) {
  layer.weight_mean += 2.0 * (left * law.gain.cwiseAbs2().asDiagonal());
  const Vector squares_bar = left.cwiseProduct(m).colwise().sum();
  surrogate.gain += 2.0 * squares_bar.cwiseProduct(law.gain);
}

/// M diag(u) C diag(u) M', u = gain / s.
void add_correlated_signal(const Matrix& m, const Gaussian& piece, const SurrogateLaw& law,
                           const Matrix& left, PieceGradient& piece_bar, SurrogateGradient& surrogate,
                           LayerGradient& layer) {
  const Vector units = gain_per_unit(piece, law);
  const Matrix covariance = piece.covariance.to_dense();
  const Matrix scaled = units.asDiagonal() * covariance * units.asDiagonal();
  layer.weight_mean += 2.0 * left * scaled;
  const Matrix scaled_bar = m.transpose() * left;
  piece_bar.covariance += units.asDiagonal() * scaled_bar * units.asDiagonal();
  const Vector units_bar = 2.0 * (scaled_bar.cwiseProduct(covariance) * units);
  const Vector s = piece.covariance.variances().cwiseSqrt();
  for (Index j = 0; j < s.size(); ++j) {
    if (!(s(j) > 0.0)) continue;
    surrogate.gain(j) += units_bar(j) / s(j);
    piece_bar.deviation(j) -= units_bar(j) * units(j) / s(j);
  }
}

}  // namespace

void add_push_gradient(const DenseLayer& next, const Gaussian& piece, const SurrogateLaw& law,
                       const Vector& mean_bar, const Matrix& covariance_bar, PieceGradient& piece_bar,
                       SurrogateGradient& surrogate, LayerGradient& layer) {
  const Matrix& m = next.weight_mean();
  layer.bias_mean += mean_bar;
  layer.weight_mean += mean_bar * law.mean.transpose();
  surrogate.mean += m.transpose() * mean_bar;
  const Vector noise_bar = covariance_bar.diagonal();
  add_bias_variance(next, noise_bar, layer);
  if (const Matrix* variances = independent_variances(next.weights())) {
    layer.weight_variance += noise_bar * law.second.transpose();
    surrogate.second += variances->transpose() * noise_bar;
  }
  if (m.isZero(0.0)) return;
  const Matrix left = covariance_bar * m;
  if (piece.covariance.is_diagonal()) {
    add_independent_signal(m, law, left, surrogate, layer);
  } else {
    add_correlated_signal(m, piece, law, left, piece_bar, surrogate, layer);
  }
}

}  // namespace mixcert
