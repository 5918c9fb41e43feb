// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of the local error of one Gaussian piece at one input (H.1), (H.2), (H.5): of what
// moment_certificate sums for one error norm (Z.8), (Z.9).
#pragma once

#include "gradient/error_norm_gradient.h"
#include "gradient/moment/surrogate_gradient.h"

namespace mixcert {

/// Derivatives in the law of one Gaussian. `covariance` is empty where coordinates are independent.
struct PieceGradient {
  Vector mean;
  Vector deviation;   ///< in the roots of the variances
  Matrix covariance;  ///< in the entries off the diagonal and, where it is not zero, on it; symmetric

  static PieceGradient zero(const Gaussian& piece);
  /// Derivatives in all entries of the covariance, those in deviations carried over to the diagonal.
  [[nodiscard]] Matrix total_covariance(const Gaussian& piece) const;
};

/// d/d(variance, mean, least) of E (sqrt S - sqrt E S)^2's bound (H.2), by the smaller of its two formulas.
struct RootDeviationGradient {
  double variance = 0.0;
  double mean = 0.0;   ///< `least` fixed
  double least = 0.0;  ///< `mean` fixed; zero at least = 0, where there is no derivative
};
RootDeviationGradient root_deviation_gradient(double variance, double mean, double least);

/// A piece, what the next layer does with it, and the error norm that its error was measured by.
struct LocalError {
  const DenseLayer& next;
  const Gaussian& piece;
  const SurrogateLaw& law;
  const ErrorNorm& error_norm;
};

/// Adds `weight` times the derivatives of the local error; those in the error norm are returned, norm by
/// norm.
std::vector<NormGradient> add_local_gradient(const LocalError& local, double weight, PieceGradient& piece,
                                             SurrogateGradient& surrogate, LayerGradient& layer);

}  // namespace mixcert
