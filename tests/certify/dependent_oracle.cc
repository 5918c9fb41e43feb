// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (N.4), (N.5), (H.7) and (H.8), entry by entry.
#include <algorithm>
#include <cmath>
#include <variant>

#include "certify/moment_oracle.h"
#include "mixture/symmetric_eigen.h"
#include "support/naive_layer.h"

namespace mixcert::testing {
namespace {

/// No less than the largest eigenvalue, the smaller of two bounds.
double naive_top(const Matrix& r) {
  const Vector values = symmetric_eigen(r).values;
  return std::min(r.cwiseAbs().rowwise().sum().maxCoeff(), std::pow(values.array().pow(8).sum(), 0.125));
}

/// K~ of (H.7).
Matrix naive_covariance(const NaivePiece& piece) {
  const auto n = static_cast<Index>(piece.neurons.size());
  Matrix covariance(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const NaiveNeuron& a = piece.neurons[static_cast<std::size_t>(i)];
      const NaiveNeuron& b = piece.neurons[static_cast<std::size_t>(j)];
      const double r = piece.correlation(i, j);
      covariance(i, j) = (a.linear + a.gain) * (b.linear + b.gain) * r + a.quadratic * b.quadratic * r * r +
                         a.rest * b.rest * r * r * r;
      if (i == j) covariance(i, i) = (1.0 + mask_variance(piece.mask)) * a.second - a.mean * a.mean;
    }
  }
  return covariance;
}

/// The scalars of (N.5); none where the noise does not have this form.
struct NaiveScalar {
  Matrix form;
  Vector cross;
  double least;
  Vector rows;
};

std::vector<NaiveScalar> naive_scalars(const DenseLayer& layer) {
  const Index n = layer.inputs(), m = layer.outputs();
  if (m == 1 && !std::holds_alternative<DeterministicWeights>(layer.weights()) &&
      !std::holds_alternative<MeanFieldWeights>(layer.weights())) {
    NaiveScalar one{Matrix(n, n), Vector(n), entry_covariance_of(layer, 0, n, 0, n), Vector::Ones(1)};
    for (Index j = 0; j < n; ++j) {
      one.cross(j) = entry_covariance_of(layer, 0, j, 0, n);
      for (Index l = 0; l < n; ++l) one.form(j, l) = entry_covariance_of(layer, 0, j, 0, l);
    }
    return {one};
  }
  if (const auto* law = std::get_if<KroneckerWeights>(&layer.weights())) {
    return {{law->column_covariance, Vector::Zero(n), 0.0, law->row_covariance.diagonal()}};
  }
  std::vector<NaiveScalar> scalars;
  if (const auto* law = std::get_if<KroneckerEigenbasisWeights>(&layer.weights())) {
    for (Index a = 0; a < m; ++a) {
      Matrix form = Matrix::Zero(n, n);
      for (Index b = 0; b < n; ++b)
        form += law->variance(a, b) * law->column_basis.col(b) * law->column_basis.col(b).transpose();
      scalars.push_back({form, Vector::Zero(n), 0.0, law->row_basis.col(a).cwiseAbs2()});
    }
  }
  return scalars;
}

/// No less than E (s^{1/2} - t^{1/2})^2 by (H.8).
double naive_scalar_cost(const NaivePiece& piece, const NaiveScalar& scalar) {
  const Index n = scalar.form.rows();
  const Matrix& r = piece.correlation;
  Vector mean(n), reach(n), diagonal = scalar.form.diagonal();
  double squares = 0.0, missed = 0.0;
  for (Index i = 0; i < n; ++i) {
    const NaiveNeuron& a = piece.neurons[static_cast<std::size_t>(i)];
    mean(i) = a.mean;
    reach(i) = piece.bound + std::abs(a.mean);
    for (Index j = 0; j < n; ++j) {
      const NaiveNeuron& b = piece.neurons[static_cast<std::size_t>(j)];
      squares +=
          diagonal(i) * diagonal(j) *
          (a.square_slope * b.square_slope * r(i, j) + r(i, j) * r(i, j) * a.square_rest * b.square_rest);
      if (i != j)
        missed += 2.0 * std::abs(scalar.form(i, j)) * std::pow(std::abs(r(i, j)), 3) * a.rest * b.rest;
    }
  }
  Matrix off = scalar.form;
  off.diagonal().setZero();
  const Vector line = off * mean + scalar.cross;
  const double linear = naive_hermite_error(piece, line * line.transpose(), true);
  const Vector variances = piece.deviation.cwiseAbs2();
  const double by_slope = 4.0 * piece.lipschitz * piece.lipschitz * naive_top(r) *
                          naive_hermite_error(piece, off * variances.asDiagonal() * off, true);
  const double by_reach = reach.squaredNorm() * naive_hermite_error(piece, off * off, true);
  const double deviation = std::sqrt(squares) + 2.0 * std::sqrt(std::max(0.0, linear)) +
                           std::sqrt(std::max(0.0, std::min(by_slope, by_reach)));
  const double t = mean.dot(scalar.form * mean) + 2.0 * scalar.cross.dot(mean) + scalar.least +
                   scalar.form.cwiseProduct(naive_covariance(piece)).sum();
  const double least = scalar.cross.isZero(0.0) ? scalar.least : 0.0;
  const double low = std::max(least, t - missed), high = t + missed;
  if (!(low > 0.0)) return std::pow(std::sqrt(2.0 * high) + std::sqrt(missed), 2);
  const double variance = deviation * deviation;
  const double by_difference = variance / std::pow(std::sqrt(low) + std::sqrt(least), 2);
  const double by_hoelder = -2.0 * high * std::expm1(-0.5 * std::log1p(variance / (low * low)));
  const double shift = missed < t ? missed / std::sqrt(t) : std::sqrt(missed);
  return std::pow(std::sqrt(std::min(by_difference, by_hoelder)) + shift, 2);
}

}  // namespace

Matrix naive_expected_noise(const NaivePiece& piece, const DenseLayer& layer) {
  const Index n = layer.inputs();
  Matrix second = Matrix::Zero(n + 1, n + 1);
  second.topLeftCorner(n, n) = naive_covariance(piece);
  Vector mean = Vector::Ones(n + 1);
  for (Index j = 0; j < n; ++j) mean(j) = piece.neurons[static_cast<std::size_t>(j)].mean;
  second += mean * mean.transpose();
  Matrix noise = Matrix::Zero(layer.outputs(), layer.outputs());
  for (Index i = 0; i < layer.outputs(); ++i) {
    for (Index k = 0; k < layer.outputs(); ++k) {
      for (Index j = 0; j <= n; ++j) {
        for (Index l = 0; l <= n; ++l) noise(i, k) += second(j, l) * entry_covariance_of(layer, i, j, k, l);
      }
    }
  }
  return noise;
}

Vector naive_root_costs(const NaivePiece& piece, const DenseLayer& layer) {
  const std::vector<NaiveScalar> scalars = naive_scalars(layer);
  if (scalars.empty() || !piece.mask.is_none()) return {};
  Vector rows = Vector::Zero(layer.outputs());
  for (const NaiveScalar& scalar : scalars) rows += naive_scalar_cost(piece, scalar) * scalar.rows;
  const Matrix alike = naive_noise_gram(layer, Vector::Ones(layer.outputs()));
  return rows.sum() < 2.0 * naive_hermite_error(piece, alike, true) ? rows : Vector();
}

}  // namespace mixcert::testing
