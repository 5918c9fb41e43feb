// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The paper's cross scheme (its appendix on alternative placement): points on the principal
// axes, radii and weights by its two algorithms. It carries no certificate; with one radial
// level it matches 2/pi of the variance, not all of it, contrary to the appendix.
#include <cmath>
#include <vector>

#include "core/normal.h"
#include "mixcert/core/error.h"
#include "mixture/symmetric_eigen.h"
#include "quantize/signature.h"

namespace mixcert {
namespace {

/// r_l = sqrt(n) (phi(q_{l-1}) - phi(q_l)) / (1/(2L)), q_l the quantile of 1/2 + l/(2L).
std::vector<double> cross_radii(Index levels, Index dimension) {
  std::vector<double> radii;
  const double shell = 0.5 / static_cast<double>(levels);
  double previous = normal_density(0.0);
  for (Index level = 1; level <= levels; ++level) {
    const double p = 0.5 + static_cast<double>(level) * shell;
    const double density = level == levels ? 0.0 : normal_density(normal_quantile(p));
    radii.push_back((previous - density) / shell * std::sqrt(static_cast<double>(dimension)));
    previous = density;
  }
  return radii;
}

/// Probability of each radial shell of the standard normal, cut half way between radii.
std::vector<double> shell_masses(const std::vector<double>& radii, Index dimension) {
  std::vector<double> masses;
  double inside = 0.0;
  for (std::size_t level = 0; level < radii.size(); ++level) {
    const bool last = level + 1 == radii.size();
    const double next =
        last ? 1.0 : normal_ball_probability(0.5 * (radii[level] + radii[level + 1]), dimension);
    masses.push_back(next - inside);
    inside = next;
  }
  return masses;
}

}  // namespace

DiscreteLaw cross_signature(const Gaussian& gaussian, Index point_budget) {
  const Index n = gaussian.dimension();
  require(n > 0 && point_budget >= 1, "cross_signature: needs a dimension and a budget of at least one");
  const Index levels = std::max<Index>(1, point_budget / (2 * n));
  const std::vector<double> radii = cross_radii(levels, n);
  const std::vector<double> masses = shell_masses(radii, n);
  const Eigenpairs pairs = leading_eigenpairs(gaussian.covariance, n);
  DiscreteLaw law{Matrix(n, 2 * n * levels), Vector(2 * n * levels)};
  Index column = 0;
  for (std::size_t level = 0; level < radii.size(); ++level) {
    for (Index j = 0; j < n; ++j) {
      const Vector arm = radii[level] * std::sqrt(pairs.values(j)) * pairs.vectors.col(j);
      law.points.col(column) = gaussian.mean + arm;
      law.points.col(column + 1) = gaussian.mean - arm;
      law.weights.segment(column, 2).setConstant(masses[level] / (2.0 * static_cast<double>(n)));
      column += 2;
    }
  }
  return law;
}

}  // namespace mixcert
