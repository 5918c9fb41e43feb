// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Laws of weights and biases.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

// The shape of the law of independent weights around their means. The engine propagates the Gaussian of the
// same mean and variance and pays for the difference (W.1).

class EntryLaw {
 public:
  enum class Family { Normal, Laplace, Uniform, StudentT };

  EntryLaw() = default;
  /// `degrees` of freedom of student_t, above two; ignored by the others. Throws InvalidArgument.
  explicit EntryLaw(Family family, double degrees = 0.0);

  [[nodiscard]] Family family() const { return family_; }
  [[nodiscard]] double degrees() const { return degrees_; }
  [[nodiscard]] bool is_normal() const { return family_ == Family::Normal; }
  /// No less than W2^2 between the law scaled to unit variance and N(0,1) (W.2) - (W.5).
  [[nodiscard]] double squared_distance_to_normal() const { return squared_distance_; }
  /// "normal", "laplace", "uniform", "student_t(5)".
  [[nodiscard]] std::string name() const;

 private:
  Family family_ = Family::Normal;
  double degrees_ = 0.0;
  double squared_distance_ = 0.0;  // costs a millisecond for student_t
};

// Joint Gaussian law of the weights W (out x in) and bias b (out) of a dense layer.
// The families are plain structs, so that propagation, sensitivity and simulation each
// say in one place what they do with every family.

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

/// W - M = independent entries of the given variances + sum_s z_s factor[s], z standard normal; the bias may
/// have a part in the same normals, b - E b = bias_factor z, beside which its law may add more.
struct LowRankWeights {
  Matrix variance;
  std::vector<Matrix> factor;  // [out, in] each
  Matrix bias_factor = {};     // [out, factors]; empty: none
  /// Is z one and the same for all layers of the network of which this is true? Then they are not
  /// independent (N.7): such a network can be sampled and linearised, and has no certificate.
  bool is_common = false;
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

// What is asked of a law, whichever family it is of. The answers are in one place (weight_law.cc), where a
// family that is added does not compile until it has given them.

/// Is every weight its mean? Families with variances count as random though all of them be zero.
bool is_deterministic(const WeightCovariance& law);
bool is_deterministic(const BiasCovariance& law);
/// Variances of weights that are independent of each other and of the bias; null where they are deterministic
/// or correlated.
const Matrix* independent_variances(const WeightCovariance& law);
const Vector* independent_variances(const BiasCovariance& law);
/// Shape of single weights; correlated ones are Gaussian.
EntryLaw entry_law(const WeightCovariance& law);
EntryLaw entry_law(const BiasCovariance& law);
/// Normals that a layer has in common with others (N.7).
Index common_factor_count(const WeightCovariance& law);
/// Columns of a low-rank part of the covariance: terms that sums have beside those of inputs and outputs.
Index factor_count(const WeightCovariance& law);
/// Is the law of the bias part of it, so that none can be given beside it? Shared weights and those of low
/// rank may reach into the bias, and leave room for more.
bool includes_bias(const WeightCovariance& law);

}  // namespace mixcert
