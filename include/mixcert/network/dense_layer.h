// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One dense layer y = W a + b with a Gaussian law on (W, b): how points are pushed
// through it, and the second moments that sensitivity metrics are made of.
#pragma once

#include <string>
#include <vector>

#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/weight_law.h"

namespace mixcert {

/// Given the activations a, noise N(0, s(a) R), s(a) = a' form a + 2 cross' a + least (N.5).
struct ScalarNoise {
  Matrix form;
  Vector cross;
  double least = 0.0;
  Vector rows;  ///< the diagonal of R
};

class DenseLayer {
 public:
  /// Checks shapes, finiteness, signs of variances and positive semidefiniteness of
  /// covariances; throws InvalidArgument naming the layer, the field and the entry.
  DenseLayer(std::string name, Matrix weight_mean, Vector bias_mean, WeightCovariance weights,
             BiasCovariance bias);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Index inputs() const { return weight_mean_.cols(); }
  [[nodiscard]] Index outputs() const { return weight_mean_.rows(); }
  [[nodiscard]] const Matrix& weight_mean() const { return weight_mean_; }
  [[nodiscard]] const Vector& bias_mean() const { return bias_mean_; }
  [[nodiscard]] const WeightCovariance& weights() const { return weights_; }
  [[nodiscard]] const BiasCovariance& bias() const { return bias_; }
  [[nodiscard]] bool is_deterministic() const;
  /// Are weights random, biases apart?
  [[nodiscard]] bool has_random_weights() const;
  /// Are outputs independent given the input: weights and biases independent of each other?
  [[nodiscard]] bool has_independent_outputs() const;
  /// Are all weights and biases Gaussian (or deterministic)?
  [[nodiscard]] bool is_gaussian() const;

  /// Laws of W a + b for several activation points at once, (N.2). Each column of
  /// `points` is one point: activations of `input_count` inputs jointly, neuron-major
  /// (entry neuron * input_count + input). Means are columns in the same order.
  /// With one input, the bits of a point's law do not depend on the other points (R.7).
  struct Pushed {
    Matrix means;                         // (outputs * input_count) x points
    std::vector<Covariance> covariances;  // one per point
  };
  [[nodiscard]] Pushed push(ConstMatrixRef points, Index input_count) const;

  /// Covariance of (W - M) a + b - E b for a random `a` of this mean and covariance, independent of W and b
  /// (N.4). Dense.
  [[nodiscard]] Matrix expected_noise(const Vector& mean, const Matrix& covariance) const;
  /// The noise as scalars that depend on `a` times fixed matrices, where it has this form (N.5); else empty.
  [[nodiscard]] std::vector<ScalarNoise> scalar_noises() const;

  /// E[(W - M)' diag(g) (W - M)], (M.3); with M' diag(g) M added: A of Lemma 1.
  [[nodiscard]] Matrix centred_gram(ConstVectorRef g) const;
  [[nodiscard]] Matrix second_moment_gram(ConstVectorRef g) const;
  /// E|W - M|_F^2, the paper's appendix on expected Lipschitz constants.
  [[nodiscard]] double total_weight_variance() const { return row_variances_.sum(); }
  /// sum_j Var W_ij for each row i.
  [[nodiscard]] const Vector& row_variances() const { return row_variances_; }
  [[nodiscard]] const Vector& bias_variances() const { return bias_variances_; }
  /// Var W_ij.
  [[nodiscard]] Matrix weight_variances() const;
  /// Euclidean norms of the rows of the weight mean (for rounding bounds).
  [[nodiscard]] const Vector& row_norms() const { return row_norms_; }
  /// Numbers stored: mean entries and covariance entries.
  [[nodiscard]] Index parameter_count() const;

 private:
  void compute_variances();
  /// What the law of the weights says of the bias.
  void add_bias_of_weights();
  [[nodiscard]] double row_variance(Index i) const;

  std::string name_;
  Matrix weight_mean_;
  Vector bias_mean_;
  WeightCovariance weights_;
  BiasCovariance bias_;
  Vector row_norms_;
  Vector row_variances_;
  Vector bias_variances_;
};

}  // namespace mixcert
