// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The signature method and its certificates a second time, straight from docs/theory: dense
// matrices, the covariance of every pair of weights written out, brute force over grid sizes,
// sums cell by cell. It shares no numerical code with the engine but symmetric_eigen and singular_values,
// which only call Eigen; it is slow and has no compression, no outward rounding and no epsilon.
#pragma once

#include <string>
#include <vector>

#include "mixcert/network/network.h"
#include "support/naive_scalar.h"

namespace mixcert::testing {

enum class NaiveMode { Paper, Expected, Metric };

struct NaiveOptions {
  NaiveMode mode = NaiveMode::Metric;
  Index points = 10;
  bool uniform_grid = false;
};

struct NaiveGaussian {
  double weight = 0.0;
  Vector mean;
  Matrix covariance;
};

/// Coordinates are neuron-major: neuron * input_count + input.
using NaiveMixture = std::vector<NaiveGaussian>;

struct NaiveCertificate {
  NaiveMixture output;
  std::vector<double> local;     ///< what each hidden layer adds to the W2 bound
  std::vector<double> local_w1;  ///< and to the W1 bound
  double w2 = 0.0;
  double w1 = 0.0;
};

/// The columns of `inputs` jointly, without compression.
NaiveCertificate naive_certificate(const Network& network, const Matrix& inputs, const NaiveOptions& options);

/// Metrics g_1..g_K of one chain: "paper", "expected", "scaled-spectral", "gershgorin" or
/// "scaled-gershgorin" (M.5, M.6).
std::vector<Vector> naive_chain(const Network& network, const std::string& form);

/// A = E[W' diag(g) W] by sums over all pairs of weights (M.3).
Matrix naive_second_moment_gram(const DenseLayer& layer, const Vector& g);

}  // namespace mixcert::testing
