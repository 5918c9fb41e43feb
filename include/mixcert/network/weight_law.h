// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Joint Gaussian law of the weights W (out x in) and bias b (out) of a dense layer.
// The families are plain structs, so that propagation, sensitivity and simulation each
// say in one place what they do with every family.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

/// W = its mean.
struct DeterministicWeights {};

/// Independent entries with variances [out, in].
struct MeanFieldWeights {
  Matrix variance;
};

/// Cov(W_ij, W_kl) = row_covariance_ik * column_covariance_jl.
struct KroneckerWeights {
  Matrix row_covariance;     // [out, out]
  Matrix column_covariance;  // [in, in]
};

/// W - M = row_basis X column_basis', X with independent entries of the given variances.
/// The bases need not be exactly orthogonal.
struct KroneckerEigenbasisWeights {
  Matrix row_basis;     // [out, out]
  Matrix column_basis;  // [in, in]
  Matrix variance;      // [out, in]
};

/// vec(W) has covariance diag(vec variance) + factor factor'; factor[s] is column s of
/// the factor, reshaped to [out, in].
struct LowRankWeights {
  Matrix variance;
  std::vector<Matrix> factor;
};

/// Covariance of vec(W), row-major: index i * in + j. [out*in, out*in].
struct FullWeights {
  Matrix covariance;
};

/// Covariance of the rows of [W, b]: index i * (in + 1) + j, j = in is the bias.
/// Includes the bias, so the bias law must be deterministic.
struct JointWeights {
  Matrix covariance;
};

using WeightCovariance = std::variant<DeterministicWeights, MeanFieldWeights, KroneckerWeights,
                                      KroneckerEigenbasisWeights, LowRankWeights, FullWeights, JointWeights>;

/// Covariance of the bias when it is independent of the weights.
struct DeterministicBias {};
struct IndependentBias {
  Vector variance;
};
struct CorrelatedBias {
  Matrix covariance;
};
using BiasCovariance = std::variant<DeterministicBias, IndependentBias, CorrelatedBias>;

/// Short name of the family, as `inspect` prints it: "mean-field", "kronecker", ...
std::string_view family_name(const WeightCovariance& law);
std::string_view family_name(const BiasCovariance& law);

}  // namespace mixcert
