// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Bounds of E|d|^2 d d' for d = a - E a, a the activations of one neuron at all inputs, (J.4): by a largest
// value (bounded activations, or all but a rare event), or from |d| <= kappa + l |zeta| and Gaussian
// integration by parts of E|zeta|^2 d d'.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/elementary.h"
#include "methods/joint/neuron_moments.h"

namespace mixcert {
double NeuronMoments::judge(const Fourth& fourth) const {
  return judging_.cwiseProduct(fourth.matrix).sum() + fourth.error * judging_.trace();
}

/// kappa = |f(m) - E a|.
double NeuronMoments::distance_to_value() const {
  double squares = 0.0;
  for (Index d = 0; d < mean_.size(); ++d) {
    const double value = activation_(mean_(d));
    const double rounding = 64 * kUnitRoundoff * (1.0 + std::abs(value));
    squares += square(std::abs(value - at(d).mean.value) + at(d).mean.error + shift(d) + rounding);
  }
  return enlarged(std::sqrt(squares));
}

NeuronMoments::Fourth NeuronMoments::by_largest_value() const {
  const double base = enlarged(distance_to_value() + lipschitz_ * std::sqrt(covariance_.trace()));
  const double slope = enlarged(lipschitz_ * std::sqrt(covariance_.norm()));
  double sure = 0.0;
  for (Index d = 0; d < mean_.size(); ++d)
    sure += square(activation_.largest_value() + at(d).mean.magnitude());
  Fourth fourth;
  const auto offer = [&](double largest_square, double tail, FourthRule rule, double start) {
    const double error = tail + largest_square * error_;
    Fourth offered{largest_square * result_, error, rule, start};
    if (fourth.matrix.size() == 0 || judge(offered) < judge(fourth)) fourth = std::move(offered);
  };
  if (std::isfinite(sure)) offer(enlarged(sure), 0.0, FourthRule::Supremum, 0.0);
  for (int halves = 18; halves >= 6; --halves) {
    const double t = 0.5 * halves;
    const double reach = base + slope * t;
    const double more = reach > 0.0 ? 4.0 * slope / reach * (t * t + 2.0) / (t * t * t) : 0.0;
    offer(enlarged(square(reach)), enlarged(square(square(reach)) * std::exp(-0.5 * t * t) * (1.0 + more)),
          FourthRule::Tail, t);
  }
  return fourth;
}

/// n_d with n_d^2 >= sum of p c_pd^2 over p >= P - 1.
Vector NeuronMoments::slope_tails() const {
  Vector tails(mean_.size());
  const double order = static_cast<double>(order_);
  for (Index d = 0; d < mean_.size(); ++d) {
    double explained = 0.0;
    for (Index p = 1; p <= order_ - 2; ++p) explained += static_cast<double>(p) * square(coefficients_(d, p));
    const double slack = order * (2.0 * size(d) + at(d).error) * at(d).error +
                         rounding_gamma(4 * order_ + 16) * at(d).slope_energy;
    tails(d) = enlarged(std::sqrt(positive_part(at(d).slope_energy - explained) + slack));
  }
  return tails;
}

/// M_de = sum p c_pd c_pe r^{p-1} and F_de = sum sqrt((p+1)(p+2)) c_{p+2,d} c_pe r^p (J.4), cut at the order
/// but for closed forms on the diagonal.
NeuronMoments::SteinSums NeuronMoments::stein_sums() const {
  const Index inputs = mean_.size();
  SteinSums sums{Matrix::Zero(inputs, inputs), Matrix::Zero(inputs, inputs)};
  Matrix power = Matrix::Ones(inputs, inputs);
  for (Index p = 1; p <= order_; ++p) {
    const double q = static_cast<double>(p);
    sums.m += q * (coefficients_.col(p) * coefficients_.col(p).transpose()).cwiseProduct(power);
    power = power.cwiseProduct(correlation_);
    if (p + 2 > order_) continue;
    const double root = std::sqrt((q + 1.0) * (q + 2.0));
    sums.f += root * (coefficients_.col(p + 2) * coefficients_.col(p).transpose()).cwiseProduct(power);
  }
  for (Index d = 0; d < inputs; ++d) {
    sums.m(d, d) = at(d).slope_energy;
    if (at(d).kinked) sums.f(d, d) = -std::sqrt(2.0) * coefficients_(d, 2) * at(d).mean.value;
  }
  return sums;
}

/// diag(1/s) C^2 diag(1/s).
Matrix NeuronMoments::scaled_square() const {
  const Vector scale = deviation_.unaryExpr([](double s) { return s > 0.0 ? 1.0 / s : 0.0; });
  return scale.asDiagonal() * (covariance_ * covariance_) * scale.asDiagonal();
}

/// What inexact coefficients and roundings may change in Y_de.
double NeuronMoments::stein_rounding(Index d, Index e) const {
  const double order = static_cast<double>(order_);
  const double relative =
      4.0 * (order + 2.0) * (rounding_gamma(4 * mean_.size() + 8 * order_ + 64) + order * relative_);
  const double inexact = order * (size(d) * at(e).error + size(e) * at(d).error + at(d).error * at(e).error);
  const double rounded = relative * std::sqrt(at(d).slope_energy * at(e).slope_energy);
  return enlarged(4.0 * covariance_.trace()) * (inexact + rounded);
}

/// Y = E|zeta|^2 d d' = tr(C) K + 2 W o M + diag(W) F + F' diag(W) (J.4), and a bound of its error.
Matrix NeuronMoments::stein_matrix(double& error) const {
  const Index inputs = mean_.size();
  const Matrix w = scaled_square();
  const auto [m, f] = stein_sums();
  const Vector tails = slope_tails();
  double squares = 0.0;
  for (Index d = 0; d < inputs; ++d) {
    for (Index e = 0; e < inputs; ++e) {
      const double reach =
          whole_power(std::abs(correlation_(d, e)) + relative_, order_ - 1) * tails(d) * tails(e);
      const bool closed = d == e && at(d).kinked;
      const double of_m = d == e ? 0.0 : reach;
      const double of_f = closed ? 0.0 : 1.4143 * reach;
      squares += square(2.0 * std::abs(w(d, e)) * of_m + (w(d, d) + w(e, e)) * of_f + stein_rounding(d, e));
    }
  }
  error = enlarged(std::sqrt(squares));
  Matrix y = 2.0 * w.cwiseProduct(m);
  y += w.diagonal().asDiagonal() * f;
  y += f.transpose() * w.diagonal().asDiagonal();
  return 0.5 * (y + y.transpose()) + covariance_.trace() * result_;
}

NeuronMoments::Fourth NeuronMoments::by_stein() const {
  double error = 0.0;
  const Matrix y = stein_matrix(error);
  const double kappa = distance_to_value();
  const double trace = enlarged(covariance_.trace());
  const double l = lipschitz_;
  // Means of the kinked closed form, and the rounded deviation (H.5).
  for (Index d = 0; d < mean_.size(); ++d) {
    error += 4.0 * trace * (at(d).mean.error * size(d) + at(d).error * at(d).mean.magnitude());
  }
  error += trace * error_ + 8.0 * l * relative_ * trace * (3.0 * kappa * std::sqrt(trace) + 3.0 * l * trace);
  const double of_value = square(kappa) * result_.trace();
  const double of_slope = square(l) * positive_part(y.trace());
  const double tau = of_value > 0.0 && of_slope > 0.0 ? std::sqrt(of_slope / of_value) : 1.0;
  Fourth fourth;
  const double first = enlarged((1.0 + tau) * square(kappa));
  const double second = enlarged((1.0 + 1.0 / tau) * square(l));
  fourth.matrix = first * result_ + second * y;
  fourth.error = first * error_ + second * error;
  return fourth;
}

NeuronMoments::Fourth NeuronMoments::best_fourth() const {
  Fourth by_value = by_largest_value();
  Fourth by_parts = by_stein();
  return judge(by_parts) < judge(by_value) ? by_parts : by_value;
}

}  // namespace mixcert
