// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sums over neurons of what the Stein bound of a layer is made of (Y.9), in coordinates in which the
// Gaussian's covariance is at least the identity. Squared norms of the tensors in a metric are forms in its
// entries; their coefficients do not depend on the flow's time.
#pragma once

#include <vector>

#include "certify/neuron_kernels.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {

/// Where entry (a, c), a <= c, of a symmetric matrix is among its packed entries.
inline Index packed_place(Index a, Index c) { return a <= c ? c * (c + 1) / 2 + a : a * (a + 1) / 2 + c; }

/// Coefficients of sum_b omega_b sum_(a <= c) coefficients(b, (a, c)) E_ac: m rows, m (m + 1)/2 columns.
struct SteinForm {
  Matrix mean, fluctuation;
  double error = 0.0;  ///< of the root of the mean's form, metric 1
  double size = 0.0;   ///< no less than the root of mean and fluctuation, metric 1, all signs alike
};

struct SteinNorms {
  double first = 0.0;    ///< (E |(T - C) C^{-1/2}|^2)^{1/2}
  SteinForm second;      ///< of 2 |A|^2, E = diag(omega) or any other metric in one of the slots
  Matrix second_shared;  ///< the fluctuation's with neuron j counted t_j times (Y.12)
  SteinForm third;       ///< of 6 |B|^2, E = omega omega'
  double gamma = 0.0;    ///< relative rounding of the forms
};

class SteinSums {
 public:
  /// root C root' >= I.
  SteinSums(const DenseLayer& layer, Matrix root);
  void add(Index neuron, const NeuronKernels& kernels, double share);
  [[nodiscard]] SteinNorms norms() const;

 private:
  /// One neuron in the new coordinates.
  struct Column {
    Vector m, v, image;    ///< M, V, R M
    Matrix scaled, noise;  ///< R V and R V R'
    Matrix weighed;        ///< sum_i V_i^2 R_i R_i'
    Vector mixed;          ///< sum_i M_i V_i R_i
    double length;         ///< |M|^2
  };

  void add_means(Index neuron, const Column& c, const NeuronKernels& k);
  void add_second(const Column& c, const NeuronKernels& k, double share);
  void add_third(Index neuron, const Column& c, const NeuronKernels& k);
  void add_first(const Column& c, const NeuronKernels& k);
  void add_rounding(const Column& c, const NeuronKernels& k);
  [[nodiscard]] std::vector<Matrix> second_means() const;
  void square_third_means(Matrix& squares) const;

  Matrix weights_, variances_, root_;
  Index outputs_;
  double size_;  ///< of root
  // One column per neuron, so that sums over neurons are products of matrices: packed symmetric tensors and
  // vectors in all slots but the first, what they are multiplied with in the first.
  Matrix straight_, flat_, across_;  ///< packed
  Matrix images_, turns_, along_, spread_;
  SteinNorms sums_;
  double first_ = 0.0, first_size_ = 0.0;
};

}  // namespace mixcert
