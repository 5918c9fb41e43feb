// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The plainest way to draw from a layer: all entries of [W, b] from their covariance, written out.
#pragma once

#include "mixture/symmetric_eigen.h"
#include "support/naive_layer.h"
#include "support/random_laws.h"

namespace mixcert::testing {

class NaiveDraws {
 public:
  explicit NaiveDraws(const DenseLayer& layer) : layer_(layer) {
    const SymmetricEigen eigen = symmetric_eigen(naive_entry_covariance(layer));
    root_ = eigen.vectors * eigen.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
  }

  /// W a + b for every column a, with one draw of W and b.
  [[nodiscard]] Matrix draw(const Matrix& activations, Generator& generator) const {
    const Index columns = layer_.inputs() + 1;
    const Vector entries = root_ * random_matrix(generator, root_.cols(), 1);
    Matrix weights = layer_.weight_mean();
    Vector bias = layer_.bias_mean();
    for (Index i = 0; i < layer_.outputs(); ++i) {
      weights.row(i) += entries.segment(i * columns, layer_.inputs()).transpose();
      bias(i) += entries(i * columns + layer_.inputs());
    }
    return (weights * activations).colwise() + bias;
  }

 private:
  const DenseLayer& layer_;
  Matrix root_;
};

}  // namespace mixcert::testing
