// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The recursion behind error norms (M.8), layer by layer: norms on the outputs of layer k + 1 become norms on
// those of layer k. Every norm knows what it was made from, so that derivatives can be read backwards.
#pragma once

#include <vector>

#include "sensitivity/error_norm.h"
#include "sensitivity/metric_forms.h"

namespace mixcert {

/// factor |d|_Q on the outputs of a layer. With B = diag(scale) A diag(scale), A the second moment of the
/// norm `parent` behind the next layer, Q = B or, when `diagonal`, Q = diag(form(B)).
struct OutputNorm {
  double factor = 1.0;
  bool diagonal = true;
  Matrix q;                ///< only its diagonal matters when `diagonal`
  std::size_t parent = 0;  ///< among the norms of the next layer
  Vector scale;            ///< empty: ones
};

/// |d| on `outputs` outputs.
OutputNorm identity_norm(Index outputs);

/// The norms on the outputs of layer k (1..K-1) that those on the outputs of layer k + 1 become.
std::vector<OutputNorm> carry_back(const std::vector<OutputNorm>& norms, const Network& network, Index k,
                                   const MetricForm& form);

/// What local errors of layer k need to know of a norm on its outputs.
NormTerm pull_back(const OutputNorm& norm, const DenseLayer& layer);

/// A = M' Q M + diag_j(sum_i Q_ii V_ij), raised so that it is no less than the exact one (M.8); behind a mask
/// its diagonal is multiplied by E m^2 (D.1).
Matrix second_moment(const OutputNorm& norm, const DenseLayer& layer, const Mask& mask);

/// diag(scale) A diag(scale), no less than the exact one; A itself where `scale` is empty.
Matrix scaled_both_sides(const Matrix& a, const Vector& scale);

/// A guess of the mean-square errors of z_{k+1}: the spread that layer k - 1 puts on layer k's inputs,
/// through the mean weights. Any positive vector is valid.
Vector expected_errors(const Network& network, Index k);

}  // namespace mixcert
