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
#include "mixcert/network/entry_law.h"

namespace mixcert {

/// W = its mean.
struct DeterministicWeights {};

/// Independent entries with variances [out, in], each of the given shape.
struct MeanFieldWeights {
  Matrix variance;
  EntryLaw law = {};
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

/// Entries that are one and the same random number: W_ij - M_ij = xi_s for every place (i, j) of parameter s,
/// parameters independent with the given variances; entries without a place are their mean. In each row a
/// parameter has at most one place (so a convolution, whose rows are output positions, fits). The bias may
/// share too: column `inputs` stands for it, b_i - E b_i = xi_s, beside which the law of the bias may add
/// more.
struct SharedWeights {
  struct Place {
    Index row = 0;
    Index column = 0;  // the number of inputs: the bias of the row
    Index parameter = 0;
  };
  Vector variance;            // one per parameter
  std::vector<Place> places;  // sorted by row
  /// Rows [g * rows_per_group, (g+1) * rows_per_group) share parameters with each other and with no other
  /// row; all rows when nothing is known.
  Index rows_per_group = 0;
};

using WeightCovariance =
    std::variant<DeterministicWeights, MeanFieldWeights, KroneckerWeights, KroneckerEigenbasisWeights,
                 LowRankWeights, FullWeights, JointWeights, SharedWeights>;

/// Covariance of the bias when it is independent of the weights.
struct DeterministicBias {};
struct IndependentBias {
  Vector variance;
  EntryLaw law = {};
};
struct CorrelatedBias {
  Matrix covariance;
};
using BiasCovariance = std::variant<DeterministicBias, IndependentBias, CorrelatedBias>;

/// Short name of the family, as `inspect` prints it: "mean-field", "kronecker", ...
std::string_view family_name(const WeightCovariance& law);
std::string_view family_name(const BiasCovariance& law);

}  // namespace mixcert
