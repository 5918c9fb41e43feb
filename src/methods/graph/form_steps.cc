// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "methods/graph/form_steps.h"

#include <algorithm>
#include <cmath>

#include "mixcert/core/rounding.h"
#include "mixture/verified_norm.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {
namespace {

/// Errors are larger along the directions that later layers stretch than white ones are: LeNet-5 has its
/// smallest bounds where the share t of (O.13) is this part of what white errors ask for.
constexpr double kAligned = 0.7;

/// Of two numbers of which nothing is known but that neither is negative.
double ratio_of(double a, double b) {
  const double ratio = b > 0.0 ? a / b : 1e3;
  return std::isfinite(ratio) ? std::clamp(ratio, 1e-3, 1e3) : 1.0;
}

}  // namespace

double verified_largest(const Matrix& a) {
  const double guess = std::max(largest_eigenvalue(a), kFormFloor);
  return enlarged(guess * feasibility_factor(Vector::Constant(a.rows(), guess), a, 8));
}

void raise(Matrix& a, double error) { a.diagonal().array() += enlarged(error) + kFormFloor; }

Split split_of(double by_matrix, double by_rest, double rest) {
  if (!(rest > 0.0)) return {};
  const double t = kAligned * std::sqrt(ratio_of(by_rest, by_matrix));
  return {enlarged(1.0 + t), enlarged((1.0 + 1.0 / t) * rest)};
}

Matrix pulled_back(const AffineOperator& layer, const Matrix& q) {
  const Matrix half = layer.transpose(q);  // M'Q
  Matrix a = layer.transpose(half.transpose());
  const AffineOperator::Sizes sizes = layer.sizes();
  double size = sizes.mean_square * q.trace(), vanished = kFormFloor * sizes.mean_square;
  if (sizes.noise_gram > 0.0) {
    const Matrix noise = layer.noise_gram(q);
    a += noise;
    size += noise.trace();
    vanished += kLostVariance * q.trace();
  }
  a = 0.5 * (a + a.transpose()).eval();
  // M stretches what vanishes in M'Q.
  raise(a, rounding_gamma(2 * sizes.roundings + 16) * size + vanished);
  return a;
}

Matrix halves_of(const Matrix& a, const std::vector<ValuePair>& pairs, Index size) {
  Eigen::Array<Index, Eigen::Dynamic, 1> readers = Eigen::Array<Index, Eigen::Dynamic, 1>::Zero(size);
  Matrix half = Matrix::Zero(size, a.cols()), whole = Matrix::Zero(size, size);
  for (Index u = 0; u < a.rows(); ++u) {
    const auto& [first, second] = pairs[static_cast<std::size_t>(u)];
    half.row(first) += 0.5 * a.row(u);
    half.row(second) += 0.5 * a.row(u);
    ++readers(first);
    ++readers(second);
  }
  for (Index u = 0; u < a.rows(); ++u) {
    const auto& [first, second] = pairs[static_cast<std::size_t>(u)];
    whole.col(first) += 0.5 * half.col(u);
    whole.col(second) += 0.5 * half.col(u);
  }
  whole = 0.5 * (whole + whole.transpose()).eval();
  // Entries are off by gamma p_i p_j, p_i = sum_u P_ui A_uu^{1/2}: p_i^2 <= nu sum_u P_ui A_uu, which adds up
  // to nu tr A (O.16).
  const Index most = readers.maxCoeff();
  raise(whole, rounding_gamma(2 * most + 16) * static_cast<double>(most) * a.trace());
  return whole;
}

}  // namespace mixcert
