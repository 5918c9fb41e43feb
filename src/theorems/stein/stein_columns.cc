// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.13): noise is diagonal before R is applied, so sums over neurons are taken of V
// itself, and R is applied once to the sums.
#include <algorithm>
#include <functional>
#include <utility>

#include "core/column_product.h"
#include "theorems/stein/stein_distance.h"

namespace mixcert {
namespace {

/// Sums over neurons, one column per output.
struct FluctuationSums {
  Matrix noise;   ///< sum g_11 |M|^2 V V'
  Matrix turned;  ///< sum packed pairs that multiply noise (x) V
  Matrix square;  ///< sum g_33 packed q q' (x) V^2/4
  Matrix plain;   ///< what needs no R any more
};

/// Rows b of the coefficients: every entry of the symmetric matrix (i, j), off the diagonal twice.
Matrix assembled(const SteinColumns& c, const FluctuationSums& sums) {
  const Index n = c.outputs();
  const Matrix plain = sums.plain + sums.square * c.root.cwiseAbs2().transpose();
  Matrix total(n, plain.rows()), slice(n, n), turned(n, n);
  for (Index b = 0; b < n; ++b) {
    const Matrix axis = c.root * c.root.row(b).asDiagonal();  // R_bl R_il
    for (Index j = 0; j < n; ++j) {
      const Index place = packed_place(b, j);
      slice.col(j) = (sums.turned.row(place) + sums.square.row(place)).transpose();
    }
    slice.noalias() += 0.5 * sums.noise * axis.transpose();
    turned.noalias() = axis * slice;
    const Matrix spread = c.spread(sums.square.row(packed_place(b, b)).transpose());
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i <= j; ++i) {
        const Index place = packed_place(i, j);
        const double entry = plain(place, b) + turned(i, j) + turned(j, i) + spread(i, j);
        total(b, place) = (i == j ? 2.0 : 4.0) * entry;
      }
    }
  }
  return total;
}

/// Some neurons of a layer, with weights of their products.
struct NeuronBlock {
  Matrix images, mixed, variances, squares;
  Matrix g;  ///< SecondWeights, those of M(x).. with their |M|^2
};

/// With v = R V R' e_b, q = R M, z = mixed_b q + q_b mixed, the coefficients of a neuron are twice the
/// symmetric parts of |M|^2 g_11 v v', v (2 |M|^2 g_12 q_b q + g_13 z)', q q' (|M|^2 g_22 q_b^2 + g_23 q_b
/// mixed_b), g_23 q_b^2 q mixed', and those of g_33 with R V^2 R'.
Matrix summed(const SteinColumns& c, const NeuronBlock& x) {
  const Index n = c.outputs();
  const auto times = [&](const Matrix& rows, SecondWeights::Pair pair, double factor) -> Matrix {
    return (factor * x.g.col(pair)).asDiagonal() * rows.transpose();
  };
  const Matrix sums = packed_sums(x.images, x.mixed), image_squares = x.images.cwiseAbs2();
  const Matrix pairs = x.squares * x.g.col(SecondWeights::kTauDt).asDiagonal() +
                       sums * (0.5 * x.g.col(SecondWeights::kTauDq)).asDiagonal();
  Matrix of_squares(x.images.cols(), 2 * n);
  of_squares.leftCols(n) = times(x.variances.cwiseAbs2(), SecondWeights::kDqDq, 0.25);
  of_squares.rightCols(n) = times(image_squares, SecondWeights::kDtDt, 1.0) +
                            times(x.images.cwiseProduct(x.mixed), SecondWeights::kDtDq, 1.0);
  const Matrix with_squares = column_product(x.squares, of_squares);
  const Matrix with_sums = column_product(sums, times(image_squares, SecondWeights::kDtDq, 0.5));
  return assembled(c, {column_product(x.variances, times(x.variances, SecondWeights::kTauTau, 1.0)),
                       column_product(pairs, x.variances.transpose().eval()), with_squares.leftCols(n),
                       with_squares.rightCols(n) + with_sums});
}

/// What all neurons but one in eight count at most.
double common_share(const Vector& shares) {
  Vector sorted = shares;
  std::sort(sorted.data(), sorted.data() + sorted.size(), std::greater<>());
  return sorted.size() > 0 ? sorted(sorted.size() / 8) : 0.0;
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
  const Matrix* of_weights = independent_variances(layer.weights());
  variances = of_weights != nullptr ? *of_weights : Matrix::Zero(weights.rows(), weights.cols());
  images = root * weights;
  mixed = root * variances.cwiseProduct(weights);
  image_squares = packed_squares(images);
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

SecondFluctuation second_fluctuation(const SteinColumns& c, const SecondWeights& weights,
                                     const Vector& shares) {
  NeuronBlock all{c.images, c.mixed, c.variances, c.image_squares, weights.pairs};
  for (const auto pair : {SecondWeights::kTauTau, SecondWeights::kTauDt, SecondWeights::kDtDt}) {
    all.g.col(pair) = all.g.col(pair).cwiseProduct(c.lengths);
  }
  // All neurons count as the common share, those with larger ones also what is left.
  const double common = common_share(shares);
  std::vector<Index> large;
  for (Index j = 0; j < c.neurons(); ++j) {
    if (shares(j) > common) large.push_back(j);
  }
  const Vector left = shares(large).array() - common;
  const NeuronBlock some{c.images(Eigen::all, large), c.mixed(Eigen::all, large),
                         c.variances(Eigen::all, large), c.image_squares(Eigen::all, large),
                         left.asDiagonal() * all.g(large, Eigen::all)};
  SecondFluctuation made;
  made.plain = summed(c, all);
  made.shared = common * made.plain + summed(c, some);
  return made;
}

}  // namespace mixcert
