// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Noise of dependent weights that is a scalar of the activations times a fixed matrix: its root against a
// constant, docs/theory/moment-method.md (H.8). The scalar is a quadratic form a'Qa + 2 c'a + v; Q without
// its diagonal is `off`.
#include <algorithm>
#include <cmath>

#include "core/elementary.h"
#include "methods/moment/moment_error.h"
#include "methods/moment/surrogate_law.h"

namespace mixcert {
namespace {

/// Products of matrices that are worth their time.
constexpr double kMostOperations = 4e9;
constexpr double kSlack = 1.0 + 1e-12;

Matrix without_diagonal(const Matrix& form) {
  Matrix off = form;
  off.diagonal().setZero();
  return off;
}

}  // namespace

double PieceError::largest_eigenvalue() const {
  if (independent_) return 1.0;
  const double n = static_cast<double>(correlation_.rows());
  const double rows = correlation_.cwiseAbs().rowwise().sum().maxCoeff<Eigen::PropagateNaN>();
  // |r|^8 <= tr r^8 = |r^4|^2; entries of powers are at most those of |r|'s powers, n^3 for the fourth.
  const Matrix square = correlation_ * correlation_;
  const double fourth = (square * square).norm();
  const double rounding = rounding_gamma(4 * correlation_.rows() + 16) * n * n * n * n;
  return enlarged(std::min(rows, std::sqrt(std::sqrt(fourth + rounding)))) + n * correlation_error_;
}

double PieceError::deviation_in(const Matrix& gram, Index operations) const {
  const Vector roots = kSlack * positive_part(gram.diagonal()).cwiseSqrt();
  const UpperBound square = hermite_form(gram, roots, law_.linear + law_.gain, operations);
  return enlarged(std::sqrt(square.upper) + roots.dot(law_.error));
}

double PieceError::scalar_deviation(const ScalarNoise& noise, const Gaussian& piece) const {
  const Index n = noise.form.rows();
  const Matrix off = without_diagonal(noise.form), sizes = off.cwiseAbs();
  // sum_j Q_jj a_j^2, as in (H.2).
  const Matrix row = noise.form.diagonal().transpose();
  double variance = 0.0;
  visit_variance(row, [&variance](const auto& part) { variance += part.sum(); });
  const double squares = variance_bound(variance, row.cwiseAbs().row(0).transpose());
  // 2 (Q mu + c)'d: what is off in the vector meets neurons one by one.
  const Vector second = (law_.second + law_.second_error).cwiseSqrt();
  const Vector line = off * law_.mean + noise.cross;
  const Vector line_error =
      sizes * law_.error + rounding_gamma(n + 8) * (sizes * law_.mean.cwiseAbs() + noise.cross.cwiseAbs());
  const double linear = 2.0 * (deviation_in(line * line.transpose(), 4) + line_error.dot(second));
  // d'Qd, by Poincare's inequality, and where neurons are bounded by |d| |Qd|.
  const Vector variances = piece.covariance.variances();
  const double slope = 2.0 * law_.lipschitz * std::sqrt(largest_eigenvalue());
  double quadratic =
      slope * kSlack * deviation_in(off * variances.asDiagonal() * off, n + piece.covariance.rank() + 8);
  const double reach = law_.reach.norm();
  if (reach < INFINITY) quadratic = std::min(quadratic, reach * deviation_in(off * off, n + 4));
  return enlarged(std::sqrt(squares) + linear + quadratic);
}

double PieceError::scalar_cost(const ScalarNoise& noise, const Gaussian& piece,
                               const Matrix& covariance) const {
  const Index n = noise.form.rows();
  const Matrix sizes = noise.form.cwiseAbs();
  const Vector root = (law_.second + law_.second_error).cwiseSqrt() + law_.error;
  const double size = root.dot(sizes * root) + 2.0 * noise.cross.cwiseAbs().dot(root) + noise.least;
  const double mean = law_.mean.dot(noise.form * law_.mean) + 2.0 * noise.cross.dot(law_.mean) + noise.least +
                      noise.form.cwiseProduct(covariance).sum();
  // What E s may be off: rounding, inexact means and second moments, and covariances of Hermite rank three
  // and more, which activation_covariance() takes as if neurons were alike.
  const Vector variances = law_.second - law_.mean.cwiseAbs2();
  const Vector inexact = (covariance.diagonal() - variances).cwiseAbs() + law_.second_error;
  double off = rounding_gamma(4 * n + 64) * size + sizes.diagonal().dot(inexact) +
               2.0 * law_.error.dot(sizes * root + noise.cross.cwiseAbs());
  if (!independent_) {
    Matrix cubes = correlation_.cwiseAbs();
    cubes = cubes.cwiseProduct(cubes.cwiseAbs2());
    cubes.diagonal().setZero();
    off += 2.0 * law_.rest.dot(sizes.cwiseProduct(cubes) * law_.rest) +
           3.0 * correlation_error_ * root.dot(sizes * root);
  }
  off = enlarged(off);
  // Forms are semidefinite; with cross terms the whole is, not the part without the constant.
  const double least = noise.cross.isZero(0.0) ? noise.least : 0.0;
  const double cost = root_deviation(enlarged(square(scalar_deviation(noise, piece))),
                                     std::max(least, mean - off), mean + off, least);
  const double shift = off < mean ? off / std::sqrt(mean) : std::sqrt(off);
  return enlarged(square(std::sqrt(cost) + shift));
}

void PieceError::compute_scalar_noises(const DenseLayer& next, const Gaussian& piece) {
  const double n = static_cast<double>(next.inputs());
  if (law_.is_masked() || static_cast<double>(next.outputs()) * n * n * n > kMostOperations) return;
  const std::vector<ScalarNoise> noises = next.scalar_noises();
  if (noises.empty()) return;
  const Matrix covariance = activation_covariance(piece, law_);
  Vector rows = Vector::Zero(next.outputs());
  for (const ScalarNoise& noise : noises) rows += scalar_cost(noise, piece, covariance) * noise.rows;
  // One coupling for all norms: the smaller one where all outputs count alike.
  NormTerm alike;
  alike.noise_gram = next.centred_gram(Vector::Ones(next.outputs()));
  if (!(rows.sum() < correlated_noise(alike).upper)) return;
  noise_ = enlarged(rows);
  has_roots_ = true;
}

}  // namespace mixcert
