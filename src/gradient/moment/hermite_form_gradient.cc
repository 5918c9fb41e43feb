// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/gradients.md (Z.7).
#include <cmath>

#include "gradient/moment/piece_gradient.h"

namespace mixcert {
namespace {

HermiteFormGradient independent_form(const Matrix& gram, const Vector& p, const Vector& q, const Vector& t) {
  const Vector squares = p.cwiseAbs2() + q.cwiseAbs2() + t.cwiseAbs2();
  const Vector weights = 2.0 * gram.diagonal();
  return {gram.diagonal().dot(squares), Matrix(squares.asDiagonal()), {},
          weights.cwiseProduct(p),      weights.cwiseProduct(q),      weights.cwiseProduct(t)};
}

}  // namespace

HermiteFormGradient hermite_form_gradient(const Matrix& gram, const Matrix& correlation, const Vector& linear,
                                          const Vector& quadratic, const Vector& rest) {
  if (correlation.size() == 0) return independent_form(gram, linear, quadratic, rest);
  const Index n = linear.size();
  HermiteFormGradient result{0.0, Matrix(n, n), Matrix(n, n), Vector(n), Vector(n), Vector(n)};
  for (Index j = 0; j < n; ++j) {
    const Eigen::ArrayXd r = correlation.col(j);
    const Eigen::ArrayXd b = gram.col(j);
    const Eigen::ArrayXd cubes = r.abs().cube();
    const Eigen::ArrayXd pp = linear.array() * linear(j);
    const Eigen::ArrayXd qq = quadratic.array() * quadratic(j);
    const Eigen::ArrayXd tt = rest.array() * rest(j);
    result.gram.col(j) = r * (pp + qq * r) + b.sign() * cubes * tt;
    result.correlation.col(j) = b * (pp + 2.0 * qq * r) + 3.0 * b.abs() * r * r.abs() * tt;
    result.linear(j) = 2.0 * (b * r * linear.array()).sum();
    result.quadratic(j) = 2.0 * (b * r.square() * quadratic.array()).sum();
    result.rest(j) = 2.0 * (b.abs() * cubes * rest.array()).sum();
    result.value += (b * result.gram.col(j).array()).sum();
  }
  result.correlation.diagonal().setZero();
  return result;
}

void add_correlation_gradient(const Matrix& correlation, const Matrix& correlation_bar, const Vector& s,
                              Matrix& covariance, Vector& deviations) {
  for (Index j = 0; j < s.size(); ++j) {
    for (Index i = 0; i < s.size(); ++i) {
      const double r = correlation(i, j);
      if (i == j || !(s(i) > 0.0) || !(s(j) > 0.0) || std::abs(r) >= 1.0) continue;
      covariance(i, j) += correlation_bar(i, j) / (s(i) * s(j));
      // Entries (i, j) and (j, i) both fall with s_i.
      deviations(i) -= 2.0 * correlation_bar(i, j) * r / s(i);
    }
  }
}

}  // namespace mixcert
