// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A Gaussian mixture on the line as a distribution function with a proven error: docs/theory/simulation.md
// (F.10).
#pragma once

#include <vector>

#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

class LineLaw {
 public:
  /// Of dimension one. Weights count as divided by their sum; deviations may be zero.
  explicit LineLaw(const GaussianMixture& mixture);

  /// P(y <= x), off by at most kLineCdfError.
  [[nodiscard]] double cdf(double x) const;
  [[nodiscard]] double deviation() const;
  /// Points from far below to far above all components: beyond them E (x - y)_+^2 and E (y - x)_+^2 are at
  /// most end_square().
  [[nodiscard]] std::vector<double> nodes() const;
  [[nodiscard]] double end_square() const;

 private:
  Vector weights_, means_, deviations_;
};

inline constexpr double kLineCdfError = 1e-13;

}  // namespace mixcert
