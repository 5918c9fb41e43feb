// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/joint-moments.md (J.7): two Cholesky factorisations, one to prove the smallest eigenvalue, one
// to invert.
#include "certify/proven_inverse.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "mixcert/core/rounding.h"

namespace mixcert {

ProvenInverse proven_inverse(const Matrix& t, double least) {
  ProvenInverse inverse;
  const Index n = t.rows();
  const double trace = t.trace();
  const double gamma = 4.0 * rounding_gamma(n + 4);
  const double smallest = least - gamma * trace;
  if (!(smallest > 0.0) || !std::isfinite(trace)) return inverse;
  const Matrix shifted = t - least * Matrix::Identity(n, n);
  if (Eigen::LLT<Matrix>(shifted).info() != Eigen::Success) return inverse;
  // Now T >= smallest I.
  const Eigen::LLT<Matrix> factorisation(t);
  if (factorisation.info() != Eigen::Success) return inverse;
  const double ratio = gamma * trace / smallest;
  const Matrix lower = factorisation.matrixL();
  inverse.root = lower.triangularView<Eigen::Lower>().solve(Matrix::Identity(n, n));
  const double size = lower.norm();
  const double residual =
      gamma * size * size * inverse.root.norm() / std::sqrt(smallest * (1.0 - std::min(ratio, 0.5)));
  if (!(ratio < 0.1) || !(residual < 0.1)) return inverse;
  inverse.proven = true;
  inverse.factor = (1.0 + ratio) / ((1.0 - residual) * (1.0 - residual)) * (1.0 + 1e-12);
  return inverse;
}

}  // namespace mixcert
