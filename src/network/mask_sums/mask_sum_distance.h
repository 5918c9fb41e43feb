// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How far a sum of independent dropout masks and Gaussian noise is from its Gaussian: a theorem in floating
// point, docs/theory/mask-sums.md (D.10) - (D.15), for any number of outputs, masks and rates.
#pragma once

#include <string>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

/// Independent standardised masks of one rate p (the probability of dropping): Y = -(kappa/p)^{1/2} with
/// probability p, (p/kappa)^{1/2} with probability kappa = 1-p. Mask j adds vectors.col(j) Y_j.
struct MaskGroup {
  double rate = 0.0;
  Matrix vectors;
};

struct MaskSumSettings {
  /// Times at which the velocity of a flow is bounded; more make a bound a little smaller.
  Index nodes = 24;
  /// Candidates for the cuts of (D.13), as shares of the masks' variance, small masks first. Without any the
  /// bound is that of (D.12).
  std::vector<double> cuts = {1.0 / 256, 1.0 / 64, 1.0 / 16, 1.0 / 4, 1.0 / 2, 0.8};
  int threads = 1;
  /// Where e is not Gaussian but Gaussian given the masks, e = S^{1/2} g with S depending on them (D.16): no
  /// less than the root of E|(E S)^{1/2} g - S^{1/2} g|^2; gaussian_covariance is E S then.
  double before = 0.0;
  /// About how many operations are allowed: where the chain would take more it has half of the nodes, then no
  /// cuts, then the fewest nodes, then masks are coupled one by one. The default is half a minute; 76,000
  /// masks of ten outputs.
  double most_operations = 2e11;
};

struct MaskSumBound {
  double w2 = 0.0;
  std::string theorem;   ///< which of the bounds is the smallest
  double coupled = 0.0;  ///< that of the masks one by one (D.2), never smaller than w2
};

/// No less than W2( sum_j c_j Y_j + e, N(0, C) ), e ~ N(0, gaussian_covariance) independent of the masks, C
/// the exact covariance of the sum. The lower triangle of `gaussian_covariance` is read; it is semidefinite
/// up to rounding, and its positive part is meant. Numbers are taken as they stand. The same bits for every
/// number of threads.
MaskSumBound mask_sum_distance(const std::vector<MaskGroup>& masks, const Matrix& gaussian_covariance,
                               const MaskSumSettings& settings = {});

/// No less than W2( N(0, C), N(0, stored) ), C as above: what a computed covariance costs more.
double stored_covariance_cost(const std::vector<MaskGroup>& masks, const Matrix& gaussian_covariance,
                              const Matrix& stored);

}  // namespace mixcert
