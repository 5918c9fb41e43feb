// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Covariances by the Mehler series, docs/theory/joint-moments.md (J.2).
#include "methods/joint/neuron_moments.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/elementary.h"

namespace mixcert {

NeuronMoments::NeuronMoments(const Activation& activation, Vector mean, Matrix covariance, Index rank)
    : activation_(activation),
      mean_(std::move(mean)),
      covariance_(std::move(covariance)),
      deviation_(positive_part(covariance_.diagonal()).cwiseSqrt()),
      lipschitz_(activation.lipschitz().upper),
      relative_(rounding_gamma(rank + 8)) {
  for (Index d = 0; d < mean_.size(); ++d) {
    expansions_.push_back(hermite_expansion(activation, mean_(d), deviation_(d)));
    order_ = std::min(order_, expansions_.back().order);
  }
  coefficients_.resize(mean_.size(), order_ + 1);
  for (Index d = 0; d < mean_.size(); ++d) coefficients_.row(d) = at(d).value.head(order_ + 1).transpose();
  sum_series();
  bound_sizes();
  judging_ = typical_inverse();
  error_ = error_norm();
  fourth_ = best_fourth();
}

/// The inverse of K with a ridge of one per cent of its mean eigenvalue.
Matrix NeuronMoments::typical_inverse() const {
  const Index inputs = mean_.size();
  const double ridge = 0.01 * result_.trace() / static_cast<double>(inputs) + 1e-300;
  Matrix inverse = Matrix::Identity(inputs, inputs);
  const Eigen::LLT<Matrix> factorisation(result_ + ridge * inverse);
  if (factorisation.info() == Eigen::Success) factorisation.solveInPlace(inverse);
  return inverse;
}

/// f moves by at most this in L2 when the deviation is rounded (H.5).
double NeuronMoments::shift(Index d) const { return lipschitz_ * relative_ * deviation_(d); }

/// K_de = sum_{1 <= p <= P} c_pd c_pe r^p + t_d t_e r^{P+1}; the diagonal is the variance.
void NeuronMoments::sum_series() {
  const Index inputs = mean_.size();
  const Vector scale = deviation_.unaryExpr([](double s) { return s > 0.0 ? 1.0 / s : 0.0; });
  correlation_ = scale.asDiagonal() * covariance_ * scale.asDiagonal();
  correlation_ = correlation_.unaryExpr([](double r) { return std::clamp(r, -1.0, 1.0); });  // keeps NaN
  leftover_.resize(inputs);
  for (Index d = 0; d < inputs; ++d) {
    const double explained = coefficients_.row(d).tail(order_).squaredNorm();
    leftover_(d) = std::sqrt(positive_part(at(d).variance.value - explained));
  }
  result_ = Matrix::Zero(inputs, inputs);
  Matrix power = correlation_;
  for (Index p = 1; p <= order_; ++p) {
    result_ += (coefficients_.col(p) * coefficients_.col(p).transpose()).cwiseProduct(power);
    power = power.cwiseProduct(correlation_);
  }
  result_ += (leftover_ * leftover_.transpose()).cwiseProduct(power);
  result_ = 0.5 * (result_ + result_.transpose()).eval();
  for (Index d = 0; d < inputs; ++d) result_(d, d) = at(d).variance.value;
}

/// No less than the standard deviations of the activation, and what the leftover norms may be off by: their
/// squares are, by the errors of variance and coefficients.
void NeuronMoments::bound_sizes() {
  const Index inputs = mean_.size();
  sizes_.resize(inputs);
  leftover_errors_.resize(inputs);
  for (Index d = 0; d < inputs; ++d) {
    sizes_(d) = enlarged(std::sqrt(positive_part(at(d).variance.upper())));
    const double slack = at(d).variance.error + (2.0 * sizes_(d) + at(d).error) * at(d).error +
                         rounding_gamma(2 * kHermiteOrder + 8) * square(sizes_(d));
    const double root = std::sqrt(slack);
    leftover_errors_(d) = enlarged(leftover_(d) > root ? slack / leftover_(d) : root);
  }
}

/// What K_de may be off by (J.2): series tail, coefficients, correlation, deviation.
double NeuronMoments::pair_error(Index d, Index e) const {
  const double r = correlation_(d, e);
  const double reach = enlarged(whole_power(std::abs(r), order_ + 1));
  const double used = leftover_(d) * leftover_(e);
  const double inexact =
      (leftover_(d) + leftover_errors_(d)) * leftover_errors_(e) + leftover_(e) * leftover_errors_(d);
  double tail = 2.0 * used + inexact;
  if (r > 0.0) {
    const double ss = deviation_(d) * deviation_(e);
    const double apart = square(mean_(d) - mean_(e)) + square(deviation_(d) - deviation_(e));
    const double near = square(lipschitz_) * ((1.0 - r + 2.0 * relative_) * ss + 0.5 * apart) + inexact;
    tail = std::min(tail, enlarged(near) + 8 * kUnitRoundoff * used);
  }
  const double error_d = at(d).error + shift(d);
  const double error_e = at(e).error + shift(e);
  const double coefficients = size(d) * error_e + size(e) * error_d + error_d * error_e;
  const double roundings =
      4.0 * (static_cast<double>(order_) + 2.0) * relative_ + rounding_gamma(6 * order_ + 32);
  return enlarged(reach * tail + coefficients + roundings * size(d) * size(e));
}

/// Frobenius norm of what K may be off by.
double NeuronMoments::error_norm() const {
  double squares = 0.0;
  for (Index d = 0; d < mean_.size(); ++d) {
    squares += square(at(d).variance.error + (2.0 * size(d) + shift(d)) * shift(d));
    for (Index e = 0; e < d; ++e) squares += 2.0 * square(pair_error(d, e));
  }
  return enlarged(std::sqrt(squares));
}

void NeuronMoments::write(Index j, CrossMoments& moments) const {
  const Index inputs = mean_.size();
  double mean_error = 0.0;
  for (Index d = 0; d < inputs; ++d) {
    moments.mean(d, j) = at(d).mean.value;
    moments.coordinates[static_cast<std::size_t>(j * inputs + d)] = at(d).moments;
    mean_error += square(at(d).mean.error + shift(d));
  }
  moments.mean_error(j) = enlarged(std::sqrt(mean_error));
  moments.error(j) = error_;
  moments.covariance.middleRows(j * inputs, inputs) = result_;
  moments.fourth.middleRows(j * inputs, inputs) = fourth_.matrix;
  moments.fourth_error(j) = enlarged(fourth_.error);
}

}  // namespace mixcert
