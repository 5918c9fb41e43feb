// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The Gaussian surrogate of a node, docs/theory/graphs.md (O.11): z^ = m + T n, n the standard normals of all
// random numbers met so far, one column of T for each. Computed numbers stand for exact ones of exact
// arithmetic with the stored means and slopes of activations; how far they are apart is carried along (O.16).
#pragma once

#include <vector>

#include "methods/graph/graph_forms.h"
#include "mixcert/activation/activation.h"
#include "network/graph/affine_operator.h"

namespace mixcert {

struct TangentLaw {
  Vector mean;
  Matrix tangents;             ///< no columns: not random
  double mean_error = 0.0;     ///< |m - mean|
  double tangent_error = 0.0;  ///< |T - tangents|_F

  [[nodiscard]] Vector deviations() const { return tangents.rowwise().norm(); }
};

/// Behind a layer whose norm is at most `norm`; its own random numbers have the columns from `first` on.
TangentLaw behind_layer(const AffineOperator& layer, double norm, const TangentLaw& before, Index first);

TangentLaw sum_of(const std::vector<const TangentLaw*>& terms);
/// One below the other.
TangentLaw stacked_laws(const std::vector<const TangentLaw*>& parts);

/// e = f(z) - mu - D (z - m) of each neuron under the computed law of z, as Hermite terms: quadratic H_2 and
/// a rest of this size.
struct Residuals {
  Vector quadratic, rest;
  double error = 0.0;  ///< what everything else adds to the Euclidean norm, in mean square (O.16)
};

struct ActivatedLaw {
  TangentLaw law;  ///< mu + D (z - m)
  Residuals residuals;
};
ActivatedLaw behind_activation(const Activation& activation, const TangentLaw& before);

struct MaximumLaw {
  TangentLaw law;
  Residuals residuals;
  Matrix differences;  ///< tangents of the differences of pairs
};
MaximumLaw behind_maximum(const MaximumNode& node, Index outputs, const TangentLaw& before);

/// Rows in ranges that have no column in common, ranges of few rows put together.
std::vector<RowRange> independent_ranges(const Matrix& tangents);

/// No less than E e' F e over the rows of the range, F the block of a positive semidefinite form: (H.1) with
/// correlations of rows of `tangents`.
double residual_cost(const Residuals& residuals, const Matrix& tangents, const RowRange& range,
                     const Matrix& block);

}  // namespace mixcert
