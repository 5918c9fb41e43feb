// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of W2 between Gaussians and of MW2 between mixtures with respect to the first of the two
// (docs/theory/gradients.md), and of the gain of structured covariances.
#pragma once

#include <vector>

#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

/// |m_a - m_b|^2 + Bures^2(A, B) and its derivatives in m_a and A.
struct GaussianTransportGradient {
  double squared = 0.0;
  Vector mean;
  Matrix covariance;  ///< I - T, T the transport map from N(0, A) to N(0, B); symmetric
};

GaussianTransportGradient gaussian_transport_gradient(ConstVectorRef mean_a, ConstMatrixRef covariance_a,
                                                      ConstVectorRef mean_b, ConstMatrixRef covariance_b);

/// MW2(a, b) and its derivatives in the components of a. Weights are constants: where several plans are
/// optimal, the derivatives are those of the one found.
struct MixtureTransportGradient {
  double distance = 0.0;
  std::vector<Vector> means;
  std::vector<Matrix> covariances;  ///< dense
};

MixtureTransportGradient mixture_transport_gradient(const GaussianMixture& a, const GaussianMixture& b);

// Derivatives of the gain tr sqrt(X) - sum_i sqrt(x_i), X = diag(x) + Y Y' (T.3), (Z.24).

struct TraceSqrtGradient {
  /// In the diagonal blocks of X, stacked, where Y keeps its value and diag(x) may become any symmetric
  /// block.
  Matrix blocks;
  Matrix columns;  ///< in Y
};

/// x >= 0; Y = `all_columns`, of which those that the value uses have derivatives.
TraceSqrtGradient trace_sqrt_gradient(ConstVectorRef x, ConstMatrixRef all_columns, Index block_size);

}  // namespace mixcert
