// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/gradients.md (Z.64): Y = tr(C) K + 2 W o M + diag(W) F + F' diag(W) of (J.4), and the tails of
// its series, backwards.
#include <cmath>

#include "core/elementary.h"
#include "gradient/joint/joint_gradient.h"

namespace mixcert {
namespace {

/// sqrt(2), rounded up, as in (J.4).
constexpr double kTailOfF = 1.4143;

}  // namespace

/// The series backwards: M_de = sum p c_pd c_pe r^{p-1}, F_de = sum ((p+1)(p+2))^{1/2} c_{p+2,d} c_pe r^p.
void FourthGradient::pull_sums(const Sums& of, NeuronTape& tape) const {
  const Matrix& coefficients = at_.coefficients_;
  const Matrix& r = at_.correlation_;
  const Index order = coefficients.cols() - 1;
  Matrix before = Matrix::Zero(r.rows(), r.cols());  // r^{p-2}, then
  Matrix power = Matrix::Ones(r.rows(), r.cols());   // r^{p-1}
  for (Index p = 1; p <= order; ++p) {
    const double q = static_cast<double>(p);
    const Vector c = coefficients.col(p);
    tape.coefficients.col(p) += 2.0 * q * (of.m.cwiseProduct(power) * c);
    if (p > 1) {
      tape.correlation.array() += q * (q - 1.0) * of.m.array() * before.array() * (c * c.transpose()).array();
    }
    if (p + 2 <= order) {
      const double root = std::sqrt((q + 1.0) * (q + 2.0));
      const Vector later = coefficients.col(p + 2);
      const Matrix weighted = of.f.cwiseProduct(power);  // F o r^{p-1}
      tape.correlation.array() += root * q * weighted.array() * (later * c.transpose()).array();
      const Matrix whole = weighted.cwiseProduct(r);
      tape.coefficients.col(p + 2) += root * (whole * c);
      tape.coefficients.col(p) += root * (whole.transpose() * later);
    }
    before = power;
    power = power.cwiseProduct(r);
  }
}

void FourthGradient::pull_stein_matrix(const Matrix& y, double error, NeuronTape& tape) const {
  const Index inputs = y.rows();
  const Vector scale = at_.deviation_.unaryExpr([](double s) { return s > 0.0 ? 1.0 / s : 0.0; });
  const Matrix& c = at_.covariance_;
  const Matrix w = at_.scaled_square();
  const Sums sums = at_.stein_sums();
  tape.activation_covariance += c.trace() * y;
  tape.covariance.diagonal().array() += y.cwiseProduct(at_.result_).sum();
  Matrix of_w = 2.0 * y.cwiseProduct(sums.m);
  of_w.diagonal() += 2.0 * y.cwiseProduct(sums.f).rowwise().sum();
  Sums of{2.0 * y.cwiseProduct(w), 2.0 * w.diagonal().asDiagonal() * y};
  pull_stein_error(error, w, of_w, tape);
  for (Index d = 0; d < inputs; ++d) {
    tape.slope_energy(d) += of.m(d, d);
    of.m(d, d) = 0.0;
    if (!at_.at(d).kinked) continue;
    tape.coefficients(d, 2) -= std::sqrt(2.0) * at_.at(d).mean.value * of.f(d, d);
    tape.coefficients(d, 0) -= std::sqrt(2.0) * at_.coefficients_(d, 2) * of.f(d, d);
    of.f(d, d) = 0.0;
  }
  pull_sums(of, tape);
  const Matrix of_square = scale.asDiagonal() * (0.5 * (of_w + of_w.transpose())) * scale.asDiagonal();
  tape.covariance += of_square * c + c * of_square;
  tape.deviation -= ((of_w + of_w.transpose()).cwiseProduct(w).rowwise().sum()).cwiseProduct(scale);
}

/// error^2 = sum_de (2 |w_de| [d != e] + sqrt2 (w_dd + w_ee) [not closed])^2 (|r|^{P-1} n_d n_e)^2.
void FourthGradient::pull_stein_error(double error, const Matrix& w, Matrix& of_w, NeuronTape& tape) const {
  if (error == 0.0) return;
  const Vector tails = at_.slope_tails();
  const Index inputs = tails.size();
  const double order = static_cast<double>(at_.order_ - 1);
  Matrix terms(inputs, inputs), reach(inputs, inputs), factor(inputs, inputs);
  for (Index d = 0; d < inputs; ++d) {
    for (Index e = 0; e < inputs; ++e) {
      const bool closed = d == e && at_.at(d).kinked;
      reach(d, e) = whole_power(std::abs(at_.correlation_(d, e)), at_.order_ - 1) * tails(d) * tails(e);
      factor(d, e) =
          (d == e ? 0.0 : 2.0 * std::abs(w(d, e))) + (closed ? 0.0 : kTailOfF * (w(d, d) + w(e, e)));
      terms(d, e) = reach(d, e) * factor(d, e) + at_.stein_rounding(d, e);
    }
  }
  const double total = terms.norm();
  if (!(total > 0.0)) return;
  Vector of_tails = Vector::Zero(inputs);
  for (Index d = 0; d < inputs; ++d) {
    for (Index e = 0; e < inputs; ++e) {
      const double weight = error * terms(d, e) / total;
      if (reach(d, e) == 0.0) continue;
      const bool closed = d == e && at_.at(d).kinked;
      if (d != e) of_w(d, e) += weight * reach(d, e) * 2.0 * (w(d, e) > 0.0 ? 1.0 : -1.0);
      if (!closed) {
        of_w(d, d) += weight * reach(d, e) * kTailOfF;
        of_w(e, e) += weight * reach(d, e) * kTailOfF;
      }
      if (d != e)
        tape.correlation(d, e) += weight * order * reach(d, e) * factor(d, e) / at_.correlation_(d, e);
      of_tails(d) += weight * reach(d, e) * factor(d, e) / tails(d);
      of_tails(e) += weight * reach(d, e) * factor(d, e) / tails(e);
    }
  }
  for (Index d = 0; d < inputs; ++d) {
    const double half = of_tails(d) / (2.0 * tails(d));
    tape.slope_energy(d) += half;
    for (Index p = 1; p <= at_.order_ - 2; ++p) {
      tape.coefficients(d, p) -= half * 2.0 * static_cast<double>(p) * at_.coefficients_(d, p);
    }
  }
}

}  // namespace mixcert
