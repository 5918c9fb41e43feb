// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sums over neurons of what the Stein bound of a layer is made of (Y.9), in coordinates in which the
// Gaussian's covariance is at least the identity. A quadratic form in a diagonal matrix diag(omega) needs its
// coefficients only: sum_ab omega_a omega_b second_ab and sum_abc omega_a omega_b omega_c third_abc.
#pragma once

#include <vector>

#include "certify/neuron_kernels.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {

/// Coefficients of the mean and of the fluctuation of sum_j A_j (or B_j), as matrix or as rows of a cube.
struct SteinForm {
  Matrix mean, fluctuation;
  double error = 0.0;   ///< of the root of the mean's form, omega = 1
  double fourth = 0.0;  ///< no less than sum_j E |A_j - E A_j|^4, omega = 1
};

struct SteinNorms {
  double first = 0.0;  ///< (E |(T - C) C^{-1/2}|^2)^{1/2}
  SteinForm second;    ///< m x m
  SteinForm third;     ///< m x m (m + 1)/2: entries (a, (b, c)), b <= c; (c, b) is counted with (b, c)
};

class SteinSums {
 public:
  /// root C root' >= I.
  SteinSums(const DenseLayer& layer, Matrix root);
  void add(Index neuron, const NeuronKernels& kernels);
  [[nodiscard]] SteinNorms norms() const;

 private:
  void add_means(const Vector& m, const Vector& v, const Vector& image, const Matrix& noise,
                 const NeuronKernels& k);
  void add_second(const NeuronKernels& k, const Vector& image, const Matrix& noise, double length);
  void add_third(const NeuronKernels& k, const Vector& image, const Matrix& noise, double length);
  void add_first(const NeuronKernels& k, const Vector& m, const Vector& v, const Vector& image,
                 const Matrix& noise);
  void add_rounding(double length, double noise, const NeuronKernels& k);

  Matrix weights_, variances_, root_;
  Index outputs_;
  Matrix scaled_;                       ///< V_i root_ai, of the neuron at hand
  double size_;                         ///< of root
  std::vector<Matrix> second_, third_;  ///< slices of the sums of means
  SteinNorms sums_;
  double first_ = 0.0, first_size_ = 0.0, second_size_ = 0.0, third_size_ = 0.0;
};

}  // namespace mixcert
