// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/gradients.md (Z.63): the bounds of fourth moments of (J.4) backwards, along the one that was
// chosen.
#include <algorithm>
#include <cmath>

#include "core/elementary.h"
#include "gradient/joint/joint_gradient.h"

namespace mixcert {
namespace {

// kappa of an odd function at zero is rounding; it has no direction.
constexpr double kLeastDistance = 1e-12;

}  // namespace

void FourthGradient::pull_back(const Matrix& matrix, double error, NeuronTape& tape) const {
  const NeuronMoments::Fourth& chosen = at_.fourth_;
  if (chosen.rule == NeuronMoments::FourthRule::Stein) {
    pull_stein(matrix, error, tape);
    return;
  }
  // Gamma = R^2 K + tau_R I, with R^2 times the error of K.
  const double largest = chosen.matrix.trace() / at_.result_.trace();
  tape.activation_covariance += largest * matrix;
  tape.error += largest * error;
  const double of_square = inner(matrix, at_.result_) + error * at_.error_;
  if (chosen.rule == NeuronMoments::FourthRule::Supremum) {
    pull_supremum(of_square, tape);
  } else {
    pull_tail(chosen.tail_start, of_square, error, tape);
  }
}

/// R^2 = sum_d (sup|f| + |mu_d|)^2, sup|f| = 1.
void FourthGradient::pull_supremum(double square, NeuronTape& tape) const {
  for (Index d = 0; d < at_.mean_.size(); ++d) {
    const double mu = at_.at(d).mean.value;
    if (std::abs(mu) <= kLeastDistance) continue;
    tape.coefficients(d, 0) += square * 2.0 * (1.0 + std::abs(mu)) * (mu > 0.0 ? 1.0 : -1.0);
  }
}

/// R = kappa + l (tr C)^{1/2} + l |C|_F^{1/2} t, tau_R = e^{-t^2/2} (R^4 + 4 (t^2+2)/t^3 l |C|_F^{1/2} R^3).
void FourthGradient::pull_tail(double t, double of_square, double error, NeuronTape& tape) const {
  const Matrix& c = at_.covariance_;
  const double l = at_.lipschitz_;
  const double root_of_trace = std::sqrt(c.trace());
  const double norm = c.norm();
  const double slope = l * std::sqrt(norm);
  const double reach = distance() + l * root_of_trace + slope * t;
  const double rare = std::exp(-0.5 * t * t);
  const double factor = 4.0 * (t * t + 2.0) / (t * t * t);
  const double cube = reach * reach * reach;
  const double of_reach =
      2.0 * reach * of_square + error * rare * (4.0 * cube + 3.0 * factor * slope * reach * reach);
  const double of_slope = of_reach * t + error * rare * factor * cube;
  pull_distance(of_reach, tape);
  if (!(norm > 0.0)) return;
  tape.covariance.diagonal().array() += of_reach * l / (2.0 * root_of_trace);
  tape.covariance += of_slope * l / (2.0 * std::sqrt(norm) * norm) * c;
}

/// kappa = |f(m) - E a|.
double FourthGradient::distance() const {
  double squares = 0.0;
  for (Index d = 0; d < at_.mean_.size(); ++d) {
    squares += square(at_.activation_(at_.mean_(d)) - at_.at(d).mean.value);
  }
  return std::sqrt(squares);
}

void FourthGradient::pull_distance(double kappa, NeuronTape& tape) const {
  const double total = distance();
  if (total <= kLeastDistance) return;
  for (Index d = 0; d < at_.mean_.size(); ++d) {
    const double m = at_.mean_(d);
    const double weight = kappa * (at_.activation_(m) - at_.at(d).mean.value) / total;
    tape.mean(d) += weight * at_.activation_.derivative(m);
    tape.coefficients(d, 0) -= weight;
  }
}

/// Gamma = (1 + tau) kappa^2 K + (1 + 1/tau) l^2 Y, tau^2 = l^2 tr Y / (kappa^2 tr K).
void FourthGradient::pull_stein(const Matrix& matrix, double error, NeuronTape& tape) const {
  double y_error = 0.0;
  const Matrix y = at_.stein_matrix(y_error);
  const double trace = at_.covariance_.trace();
  y_error += trace * at_.error_;
  const double l2 = square(at_.lipschitz_);
  const Matrix& k = at_.result_;
  const double kappa = distance();
  const double of_first = inner(matrix, k) + error * at_.error_;
  const double of_second = inner(matrix, y) + error * y_error;
  double second = l2;
  Matrix of_y = Matrix::Zero(y.rows(), y.cols());
  if (kappa > kLeastDistance && y.trace() > 0.0) {
    const double tau = std::sqrt(l2 * y.trace() / (square(kappa) * k.trace()));
    const double first = (1.0 + tau) * square(kappa);
    second = (1.0 + 1.0 / tau) * l2;
    const double of_tau = of_first * square(kappa) - of_second * l2 / square(tau);
    of_y.diagonal().array() += of_tau * tau / (2.0 * y.trace());
    tape.activation_covariance.diagonal().array() -= of_tau * tau / (2.0 * k.trace());
    pull_distance(2.0 * (1.0 + tau) * kappa * of_first - of_tau * tau / kappa, tape);
    tape.activation_covariance += first * matrix;
    tape.error += first * error;
  }
  of_y += second * matrix;
  const double of_error = second * error;
  tape.error += of_error * trace;
  tape.covariance.diagonal().array() += of_error * at_.error_;
  pull_stein_matrix(of_y, of_error, tape);
}

}  // namespace mixcert
