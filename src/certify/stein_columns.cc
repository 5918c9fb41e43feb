// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.13): noise is diagonal before R is applied, so sums over neurons are taken of V
// itself, and R is applied once to the sums.
#include "certify/stein_columns.h"

#include <utility>
#include <variant>

namespace mixcert {
namespace {

/// What one way of counting neurons gives.
struct FluctuationSums {
  Matrix noise;   ///< sum g_11 |M|^2 V V'
  Matrix turned;  ///< sum V (x) packed pairs that multiply noise
  Matrix square;  ///< sum g_33 V^2/4 (x) packed q q'
  Matrix plain;   ///< what needs no R any more
};

/// Rows b of the coefficients: every entry of the symmetric matrix (i, j), off the diagonal twice.
Matrix assembled(const SteinColumns& c, const FluctuationSums& sums) {
  const Index n = c.outputs();
  Matrix total = sums.plain + c.root.cwiseAbs2() * sums.square;
  Matrix slice(n, n), square_slice(n, n);
  for (Index b = 0; b < n; ++b) {
    const Matrix axis = c.root * c.root.row(b).asDiagonal();  // R_bl R_il
    for (Index j = 0; j < n; ++j) {
      slice.col(j) = sums.turned.col(packed_place(b, j));
      square_slice.col(j) = sums.square.col(packed_place(b, j));
    }
    slice += square_slice;
    const Matrix turned = axis * (slice + 0.5 * sums.noise * axis.transpose());
    const Matrix spread = c.spread(square_slice.col(b));
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i <= j; ++i) {
        double& entry = total(b, packed_place(i, j));
        entry = (i == j ? 2.0 : 4.0) * (entry + turned(i, j) + turned(j, i) + spread(i, j));
      }
    }
  }
  return total;
}

}  // namespace

Matrix packed_sums(const Matrix& x, const Matrix& y) {
  Matrix packed(packed_count(x.rows()), x.cols());
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index c = 0; c < x.rows(); ++c) {
      packed.col(j).segment(packed_place(0, c), c + 1) =
          x(c, j) * y.col(j).head(c + 1) + y(c, j) * x.col(j).head(c + 1);
    }
  }
  return packed;
}

Matrix packed_squares(const Matrix& x) {
  Matrix packed(packed_count(x.rows()), x.cols());
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index c = 0; c < x.rows(); ++c) {
      packed.col(j).segment(packed_place(0, c), c + 1) = x(c, j) * x.col(j).head(c + 1);
    }
  }
  return packed;
}

SteinColumns::SteinColumns(const DenseLayer& layer, Matrix new_root)
    : weights(layer.weight_mean()), root(std::move(new_root)), root_size(root.norm()) {
  const auto* law = std::get_if<MeanFieldWeights>(&layer.weights());
  variances = law != nullptr ? law->variance : Matrix::Zero(weights.rows(), weights.cols());
  images = root * weights;
  mixed = root * variances.cwiseProduct(weights);
  axes = packed_squares(root);
  const Matrix gram = root.transpose() * root;
  lengths = weights.colwise().squaredNorm().transpose();
  turned = images.colwise().squaredNorm().transpose();
  cross = images.cwiseProduct(mixed).colwise().sum().transpose();
  scaled = variances.cwiseAbs2().transpose() * gram.diagonal();
  traces = variances.transpose() * gram.diagonal();
  const Matrix squares = gram.cwiseAbs2() * variances;
  noise = variances.cwiseProduct(squares).colwise().sum().transpose().cwiseSqrt();
}

/// With v = R V R' e_b, q = R M, z = mixed_b q + q_b mixed, the coefficients of a neuron are twice the
/// symmetric parts of |M|^2 g_11 v v', v (2 |M|^2 g_12 q_b q + g_13 z)', q q' (|M|^2 g_22 q_b^2 + g_23 q_b
/// mixed_b), g_23 q_b^2 q mixed', and those of g_33 with R V^2 R'.
SecondFluctuation second_fluctuation(const SteinColumns& c, const SecondWeights& g, const Vector& shares) {
  const Index n = c.outputs(), neurons = c.neurons();
  const Matrix squares = packed_squares(c.images), sums = packed_sums(c.images, c.mixed);
  const auto lengths = c.lengths.transpose();
  const Matrix pairs =
      squares * g.tau_kernel.cwiseProduct(lengths).asDiagonal() + sums * (0.5 * g.tau_square).asDiagonal();
  const Matrix image_squares = c.images.cwiseAbs2();
  // Factors of neurons, those of `shared` below those of `plain`.
  Matrix noise(2 * n, neurons), of_squares(4 * n, neurons), of_sums(2 * n, neurons);
  noise.topRows(n) = c.variances;
  of_squares.topRows(n) = c.variances.cwiseAbs2() * (0.25 * g.square_square).asDiagonal();
  of_squares.middleRows(n, n) = image_squares * g.kernel_kernel.cwiseProduct(lengths).asDiagonal() +
                                c.images.cwiseProduct(c.mixed) * g.kernel_square.asDiagonal();
  of_sums.topRows(n) = image_squares * (0.5 * g.kernel_square).asDiagonal();
  noise.bottomRows(n) = noise.topRows(n) * shares.asDiagonal();
  of_squares.bottomRows(2 * n) = of_squares.topRows(2 * n) * shares.asDiagonal();
  of_sums.bottomRows(n) = of_sums.topRows(n) * shares.asDiagonal();
  const Matrix with_pairs = noise * pairs.transpose();
  const Matrix with_squares = of_squares * squares.transpose();
  const Matrix with_sums = of_sums * sums.transpose();
  const Matrix with_noise = noise * (c.variances * g.tau_tau.cwiseProduct(lengths).asDiagonal()).transpose();
  const auto part = [&](Index k) {
    return assembled(c, {with_noise.middleRows(k * n, n), with_pairs.middleRows(k * n, n),
                         with_squares.middleRows(2 * k * n, n),
                         with_squares.middleRows((2 * k + 1) * n, n) + with_sums.middleRows(k * n, n)});
  };
  return {part(0), part(1)};
}

}  // namespace mixcert
