// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/gradients.md (Z.61), (Z.62): the Mehler series of (J.2) backwards. What (J.2) charges for
// roundings is a constant here; what it charges for the tail of the series is not.
#include <cmath>

#include "core/elementary.h"
#include "gradient/joint/joint_gradient.h"
#include "gradient/moment/moment_gradient.h"

namespace mixcert {
namespace {

// Below this share of the variance the leftover of a series is rounding.
constexpr double kLeastLeftover = 1e-10;

}  // namespace

BlockCotangent NeuronGradient::pull_back(const NeuronCotangent& cotangent) const {
  const Index inputs = at_.mean_.size();
  NeuronTape tape;
  tape.coefficients = Matrix::Zero(inputs, at_.order_ + 1);
  for (Vector* field : {&tape.variance, &tape.slope_energy, &tape.leftover, &tape.mean, &tape.deviation}) {
    *field = Vector::Zero(inputs);
  }
  tape.correlation = tape.covariance = Matrix::Zero(inputs, inputs);
  tape.coefficients.col(0) = cotangent.mean;
  tape.activation_covariance = cotangent.covariance;
  tape.error = cotangent.error;
  if (!cotangent.fourth.isZero(0.0) || cotangent.fourth_error != 0.0) {
    FourthGradient(at_).pull_back(cotangent.fourth, cotangent.fourth_error, tape);
  }
  pull_error(tape);
  pull_series(tape);
  pull_correlation(tape);
  pull_expansions(tape);
  tape.covariance = 0.5 * (tape.covariance + tape.covariance.transpose()).eval();
  return {std::move(tape.mean), std::move(tape.covariance)};
}

/// error^2 = 2 sum_{e<d} (|r|^{P+1} tail_de)^2, the tail being the smaller of its two bounds.
void NeuronGradient::pull_error(NeuronTape& tape) const {
  if (tape.error == 0.0) return;
  const double total = at_.error_;
  if (!(total > 0.0)) return;
  const double order = static_cast<double>(at_.order_ + 1);
  const double l2 = square(at_.lipschitz_);
  const Vector& t = at_.leftover_;
  const Vector& s = at_.deviation_;
  const Vector& m = at_.mean_;
  for (Index d = 0; d < m.size(); ++d) {
    for (Index e = 0; e < d; ++e) {
      const double r = at_.correlation_(d, e);
      if (r == 0.0) continue;
      const double weight = tape.error * 2.0 * at_.pair_error(d, e) / total;
      const double reach = whole_power(std::abs(r), at_.order_ + 1);
      const double near = l2 * ((1.0 - r) * s(d) * s(e) + 0.5 * (square(m(d) - m(e)) + square(s(d) - s(e))));
      const bool is_near = r > 0.0 && near < 2.0 * t(d) * t(e);
      const double of_power = 0.5 * weight * order * reach / r * (is_near ? near : 2.0 * t(d) * t(e));
      tape.correlation(d, e) += of_power;
      tape.correlation(e, d) += of_power;
      if (is_near) {
        const double scaled = weight * reach * l2;
        tape.correlation(d, e) -= 0.5 * scaled * s(d) * s(e);
        tape.correlation(e, d) -= 0.5 * scaled * s(d) * s(e);
        tape.deviation(d) += scaled * ((1.0 - r) * s(e) + s(d) - s(e));
        tape.deviation(e) += scaled * ((1.0 - r) * s(d) + s(e) - s(d));
        tape.mean(d) += scaled * (m(d) - m(e));
        tape.mean(e) -= scaled * (m(d) - m(e));
      } else {
        tape.leftover(d) += 2.0 * weight * reach * t(e);
        tape.leftover(e) += 2.0 * weight * reach * t(d);
      }
    }
  }
}

/// K_de = sum_p c_pd c_pe r^p + t_d t_e r^{P+1}, K_dd = Var a_d.
void NeuronGradient::pull_series(NeuronTape& tape) const {
  Matrix k = tape.activation_covariance;
  tape.variance += k.diagonal();
  k.diagonal().setZero();
  const Matrix& r = at_.correlation_;
  Matrix before = k;  // K o r^{p-1}
  for (Index p = 1; p <= at_.order_; ++p) {
    const Vector c = at_.coefficients_.col(p);
    tape.correlation.array() += static_cast<double>(p) * (c * c.transpose()).array() * before.array();
    before = before.cwiseProduct(r);
    tape.coefficients.col(p) += 2.0 * (before * c);
  }
  const Vector& t = at_.leftover_;
  tape.correlation.array() +=
      static_cast<double>(at_.order_ + 1) * (t * t.transpose()).array() * before.array();
  tape.leftover += 2.0 * (before.cwiseProduct(r) * t);
  for (Index d = 0; d < t.size(); ++d) {
    if (square(t(d)) <= kLeastLeftover * at_.at(d).variance.value) continue;
    const double weight = tape.leftover(d) / (2.0 * t(d));
    tape.variance(d) += weight;
    tape.coefficients.row(d).tail(at_.order_) -= 2.0 * weight * at_.coefficients_.row(d).tail(at_.order_);
  }
}

/// r_de = C_de / (s_d s_e); constant where it was cut to [-1, 1].
void NeuronGradient::pull_correlation(NeuronTape& tape) const {
  const Vector& s = at_.deviation_;
  for (Index d = 0; d < s.size(); ++d) {
    for (Index e = 0; e < s.size(); ++e) {
      const double r = at_.correlation_(d, e);
      if (d == e || std::abs(r) >= 1.0 || !(s(d) * s(e) > 0.0)) continue;
      const double weight = tape.correlation(d, e);
      tape.covariance(d, e) += weight / (s(d) * s(e));
      tape.deviation(d) -= weight * r / s(d);
      tape.deviation(e) -= weight * r / s(e);
    }
  }
}

/// Coefficients, variance and slopes as functions of m and s, then s = C_dd^{1/2}.
void NeuronGradient::pull_expansions(NeuronTape& tape) const {
  for (Index d = 0; d < at_.mean_.size(); ++d) {
    const double s = at_.deviation_(d);
    if (!(s > 0.0)) {
      tape.mean(d) += tape.coefficients(d, 0) * at_.activation_.derivative(at_.mean_(d));
      continue;
    }
    HermiteDerivatives derivatives = hermite_derivatives(at_.activation_, at_.mean_(d), s);
    if (at_.at(d).order < kHermiteOrder) derivatives.slope_energy = {0.0, 2.0 * square(at_.lipschitz_) * s};
    const Eigen::RowVector2d total =
        tape.coefficients.row(d) * derivatives.coefficients.topRows(at_.order_ + 1) +
        tape.variance(d) * derivatives.variance + tape.slope_energy(d) * derivatives.slope_energy;
    tape.mean(d) += total(0);
    tape.covariance(d, d) += (tape.deviation(d) + total(1)) / (2.0 * s);
  }
}

}  // namespace mixcert
