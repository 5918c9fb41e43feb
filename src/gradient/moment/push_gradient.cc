// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/gradients.md (Z.10).

#include "gradient/moment/piece_gradient.h"
#include "methods/moment/surrogate_push.h"

namespace mixcert {
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
